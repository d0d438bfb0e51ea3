// The value of a fader. While the user moves it, and until the last write has arrived, it shows the user's value. Otherwise it
// follows the hub.

import { type Accessor, createEffect, createSignal, on } from 'solid-js';
import type { Value } from '../../../client/index.ts';
import type { LiveParameter } from '../../hub/live-cells.ts';
import { whyReadOnly } from '../../hub/me.ts';
import { isStale } from '../../hub/page-hub.ts';
import { useDelay } from '../../page/page-timers.ts';
import type { Drawn } from '../showing.ts';
import type { Writes } from '../widget.tsx';
import { createWriter } from './paced-writer.ts';

/** The time for which the fader waits for the values that follow from its last write. */
const settleMs = 300;
/** The default number of steps, and the number of Page Up presses from end to end. */
const steps = 100;
const pages = 10;
const digits = 12;

export interface FaderValue {
  /** The displayed value; undefined if unknown. */
  readonly shown: Accessor<Value | undefined>;
  /** The position of its cap within its range. */
  readonly place: Accessor<number>;
  /** Why the user may not set it; empty if allowed. */
  readonly readOnly: Accessor<string>;
  /** Whether it can be moved. */
  readonly isFree: Accessor<boolean>;
  /** The user grabs it. */
  hold(): void;
  /** The user drags it, to the nearest step. */
  moveTo(value: number): void;
  /** The user releases it. */
  release(): void;
  /** Moves it immediately, to the nearest step. */
  set(value: number): void;
  /** Moves it by a key; returns whether the key moves it. */
  press(key: string): boolean;
}

/** Writes no faster than the link allows, for the lifetime of the calling scope. */
export function createFaderValue(
  { address, min, max, step = (max - min) / steps }: Drawn<'fader'>,
  parameter: LiveParameter,
  { send, fail }: Writes,
): FaderValue {
  /** The value of the user; undefined if it follows the hub. */
  const [own, setOwn] = createSignal<number>();
  let isHeld = false;
  const settling = useDelay();
  const settle = () => settling.start(settleMs, () => !isHeld && !writer.isBusy && setOwn(undefined));
  const writer = createWriter({
    send,
    settled(error) {
      if (error !== undefined) fail(error);
      settle();
    },
  });
  const isOld = () => isStale() || parameter.staleSince() !== undefined;
  createEffect(on(isOld, (old) => old && setOwn(undefined), { defer: true }));
  const clamp = (value: number) => Math.min(max, Math.max(min, value || 0));
  const snap = (value: number) => clamp(Number((min + Math.round((value - min) / step) * step).toPrecision(digits)));
  const shown = () => own() ?? parameter.wanted() ?? parameter.value();
  const place = () => clamp(Number(shown() ?? min));
  const readOnly = () => whyReadOnly(address, parameter.kind()?.access);
  const isFree = () => !isOld() && parameter.kind() !== undefined && !readOnly();
  const moveTo = (value: number) => {
    const next = snap(value);
    if (!isFree() || next === own()) return;
    setOwn(next);
    writer.write(next);
  };
  const set = (value: number) => {
    moveTo(value);
    settle();
  };
  return {
    shown,
    place,
    readOnly,
    isFree,
    hold() {
      isHeld = true;
      setOwn(place());
    },
    moveTo,
    release() {
      isHeld = false;
      settle();
    },
    set,
    press(key) {
      const next = valueAfterKey(key, place(), { min, max, step });
      if (next !== undefined) set(next);
      return next !== undefined;
    },
  };
}

/** Returns the value after a key; undefined if the key does not move the fader. */
function valueAfterKey(
  key: string,
  value: number,
  { min, max, step }: { readonly min: number; readonly max: number; readonly step: number },
): number | undefined {
  const page = Math.max(step, (max - min) / pages);
  return new Map([
    ['ArrowUp', value + step],
    ['ArrowRight', value + step],
    ['ArrowDown', value - step],
    ['ArrowLeft', value - step],
    ['PageUp', value + page],
    ['PageDown', value - page],
    ['Home', min],
    ['End', max],
  ]).get(key);
}
