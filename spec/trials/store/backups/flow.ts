// The flow of a hub that is backed up while it changes. What is written says at every moment what all of it has to be.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How many changes one write makes: itself, its twin, and the number of the last. */
export const changesPerWrite = 3;

/** The flow: write number n goes to `desk/a<n modulo pairs>`; in the same turn rules write it to its twin and to `desk/last`. */
export async function writeFlow(folder: string, pairs: number): Promise<void> {
  const numbers = Array.from({ length: pairs }, (_, index) => index);
  const flow = {
    connections: {
      api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
      store: { type: 'store', folder: 'data' },
      desk: { type: 'dummy', parameters: ['last,I', ...numbers.flatMap((n) => [`a${n},I`, `b${n},I`])] },
    },
    rules: [
      ...numbers.map((n) => ({ name: `twin ${n}`, from: `desk/a${n}`, to: `desk/b${n}` })),
      { name: 'last', from: numbers.map((n) => `desk/a${n}`), to: 'desk/last' },
    ],
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'flow.json5'), JSON.stringify(flow));
}

/** Says what is not of one moment; `values` are those of a restored hub. */
export function checkMoment(values: ReadonlyMap<string, unknown>, pairs: number, from: number, to: number): string[] {
  const last = values.get('desk/last') as number | undefined;
  if (last === undefined || !(last >= from && last <= to))
    return [`desk/last: expected a number from ${from} to ${to}, got ${last}`];
  const mistakes: string[] = [];
  for (let number = Math.max(0, last - pairs + 1); number <= last; number++)
    for (const side of ['a', 'b']) {
      const address = `desk/${side}${number % pairs}`;
      if (values.get(address) !== number)
        mistakes.push(`${address}: expected ${number}, as desk/last is ${last}, got ${values.get(address)}`);
    }
  return mistakes;
}
