// Makes an input that fails smaller, piece by piece and byte by byte, as long as it still fails.

import type { Input } from './deliver.ts';

const maxTries = 400;

/** Returns the smallest input that was found; `fails` says whether one still fails. */
export async function shrink(input: Input, fails: (input: Input) => Promise<boolean>): Promise<Input> {
  let smallest = input;
  let tries = 0;
  const attempt = async (pieces: readonly string[]) => {
    if (tries++ >= maxTries || pieces.length === 0) return false;
    const smaller = { ...smallest, pieces };
    if (!(await fails(smaller))) return false;
    smallest = smaller;
    return true;
  };
  const without = <T>(list: readonly T[], from: number, length: number) => [
    ...list.slice(0, from),
    ...list.slice(from + length),
  ];
  for (let length = Math.ceil(input.pieces.length / 2); length >= 1; length = length === 1 ? 0 : Math.ceil(length / 2))
    for (let from = 0; from < smallest.pieces.length; )
      if (!(await attempt(without(smallest.pieces, from, length)))) from += length;
  if (input.kind === 'socket') return smallest; // a frame says its length, which cutting it would make wrong
  for (let place = 0; place < smallest.pieces.length; place++)
    for (
      let length = Math.ceil(smallest.pieces[place]!.length / 2);
      length >= 1;
      length = length === 1 ? 0 : Math.ceil(length / 2)
    )
      for (let from = 0; from < smallest.pieces[place]!.length; ) {
        const text = smallest.pieces[place]!;
        const shorter = text.slice(0, from) + text.slice(from + length);
        if (!(await attempt(smallest.pieces.map((piece, index) => (index === place ? shorter : piece)))))
          from += length;
      }
  return smallest;
}
