// The value of a fader. While the user moves the fader, and until the last write has arrived, the fader shows the user's value. Otherwise,
// it follows the hub.

import { type Accessor, createEffect, createSignal, on } from 'solid-js';
import type { Value } from '../../../client/index.ts';
import type { LiveParameter } from '../../hub/live-cells.ts';
import { whyReadOnly } from '../../hub/me.ts';
import { isStale } from '../../hub/page-hub.ts';
import { useDelay } from '../../page/page-timers.ts';
import type { Drawn } from '../showing.ts';
import type { Writes } from '../widget.tsx';
import { createWriter } from './paced-writer.ts';

/** How long the fader waits for the values that result from its last write, in milliseconds. */
const settleMs = 300;
/** The default number of steps from one end of the fader to the other. */
const steps = 100;
/** The number of Page Up presses that move the fader from one end to the other. */
const pages = 10;
const digits = 12;

export interface FaderValue {
  /** The value that the fader shows; undefined if the value is unknown. */
  readonly shown: Accessor<Value | undefined>;
  /** The same value as text for display, updated no more often than a person can read. */
  readonly readable: Accessor<Value | undefined>;
  /** Whether the value was set by the user. */
  readonly isOwn: Accessor<boolean>;
  /** The position of the fader's cap within its range, as a fraction. */
  readonly place: Accessor<number>;
  /** The reason why the user may not set the fader. Empty if the user may set the fader. */
  readonly readOnly: Accessor<string>;
  /** Whether the user can currently move the fader. */
  readonly isFree: Accessor<boolean>;
  /** Called when the user grabs the fader. */
  hold(): void;
  /** Called when the user drags the fader. Moves the fader to the step that is nearest to the dragged position. */
  moveTo(value: number): void;
  /** Called when the user releases the fader. */
  release(): void;
  /** Moves the fader immediately to the step that is nearest to a value. */
  set(value: number): void;
  /** Handles a key press on the fader. Returns whether the key moves the fader. */
  press(key: string): boolean;
}

/** Creates the value of a fader, owned by the calling reactive scope. Values are written no faster than the link allows. */
export function createFaderValue(
  { address, min, max, step = (max - min) / steps }: Drawn<'fader'>,
  parameter: LiveParameter,
  { send, fail }: Writes,
): FaderValue {
  /** The value to which the user has moved the fader; undefined if the fader follows the hub. */
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
  const readable = () => own() ?? parameter.wanted() ?? parameter.readable();
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
    readable,
    isOwn: () => own() !== undefined,
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

/** Returns the value of a fader after a key press, or undefined if the key does not move the fader. */
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
