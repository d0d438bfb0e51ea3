// Whether a lamp or button is lit.

import { createEffect, createSignal, on } from 'solid-js';
import type { Value } from '../../client/index.ts';
import type { LiveParameter } from '../hub/live-cells.ts';
import { useDelay } from '../page/page-timers.ts';
import { isLit } from './showing.ts';

/** How long a trigger lights it. */
const flashMs = 400;

/** A trigger flashes each time it fires. All else is lit at the value `equals`, or at values that D-02 converts to true. */
export function createLit(parameter: LiveParameter, equals?: Value): () => boolean {
  const [hasFired, setFired] = createSignal(false);
  const flashing = useDelay();
  const isTrigger = () => parameter.kind()?.type === 'T';
  const flash = () => {
    if (!isTrigger()) return;
    setFired(true);
    flashing.start(flashMs, () => setFired(false));
  };
  createEffect(on(parameter.moves, flash, { defer: true }));
  return () => (isTrigger() ? hasFired() : isLit(parameter.value(), equals));
}
