// Which row of the list of parameters has the focus. It stays with an address when other rows come or go.

import { type Accessor, createEffect, createSignal, on } from 'solid-js';
import type { FoundRows } from './list/found-rows.ts';

/** The place of the focus, and what sets it; -1: no row has it. A new search takes it away. */
export function createFocus({
  text,
  isTree,
  rows,
  at,
}: FoundRows): readonly [Accessor<number>, (place: number) => void] {
  const [focused, setFocused] = createSignal(-1);
  let focusedAddress: string | undefined;
  createEffect(on([text, isTree], () => setFocused(-1), { defer: true }));
  createEffect(
    on(focused, (place) => {
      focusedAddress = at(place)?.address;
    }),
  );
  createEffect(
    on(
      rows,
      (now) => {
        if (focused() < 0 || at(focused())?.address === focusedAddress) return;
        let place = now.length - 1;
        while (place >= 0 && now.at(place).address !== focusedAddress) place--;
        setFocused(place);
      },
      { defer: true },
    ),
  );
  return [focused, setFocused];
}
