// The value of a fader. While a hand moves it, and until the last write has got there, the fader shows what the hand says. Otherwise
// it follows the hub.

import { type Accessor, createEffect, createSignal, on } from 'solid-js';
import type { Value } from '../../../client/index.ts';
import type { WidgetOf } from '../../../dashboard/format.ts';
import type { LiveParameter } from '../../hub/live-cells.ts';
import { whyReadOnly } from '../../hub/me.ts';
import { isStale } from '../../hub/page-hub.ts';
import { useDelay } from '../../page/page-timers.ts';
import type { Writes } from '../widget.tsx';
import { createWriter } from './paced-writer.ts';

/** A write leads to values that take this long to come back. The fader waits for them. */
const settleMs = 300;
/** How many steps it has, unless the widget says how long one is, and how often one presses Page Up from end to end. */
const steps = 100;
const pages = 10;
const digits = 12;

export interface FaderValue {
  /** The value that it shows; undefined: unknown. */
  readonly shown: Accessor<Value | undefined>;
  /** Where its cap is within its range. */
  readonly place: Accessor<number>;
  /** Why nobody here may set it; empty: one may. */
  readonly readOnly: Accessor<string>;
  /** Whether a hand may move it. */
  readonly isFree: Accessor<boolean>;
  /** A hand takes hold of it. */
  hold(): void;
  /** The hand moves it, to the nearest step. */
  moveTo(value: number): void;
  /** The hand lets go. */
  letGo(): void;
  /** Moves it at once, to the nearest step. */
  set(value: number): void;
  /** Moves it as a key says; returns whether the key is one that does. */
  press(key: string): boolean;
}

/** Writes no faster than the link takes it, for the scope that calls it. */
export function createFaderValue(
  { address, min, max, step = (max - min) / steps }: WidgetOf<'fader'>,
  parameter: LiveParameter,
  { send, fail }: Writes,
): FaderValue {
  /** What the hand says; undefined: it follows the hub. */
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
  const shown = () => own() ?? parameter.value();
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
    letGo() {
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

/** Where a key leads from a value; undefined: it is none that leads anywhere. */
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
