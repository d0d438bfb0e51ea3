// Recordings of numbers and booleans over the last minutes. A recording starts when the user opens or pins the parameter.

import { createSignal } from 'solid-js';
import type { Unsubscribable, Value } from '../../client/index.ts';
import { hub } from '../hub/page-hub.ts';
import { keep, recallTexts } from '../page/storage.ts';

/** The maximum number of samples in a recording, which is enough for five minutes at ten samples per second. */
const maxSamples = 3000;
/** The maximum number of recordings. The oldest recording that is not pinned is dropped first. */
const maxRecordings = 16;
const maxPins = 12;

/** Samples in chronological order: the times in milliseconds since 1970, and the values, which are null if unknown or stale. */
export interface Samples {
  readonly times: number[];
  readonly values: (number | null)[];
}

export interface Recording {
  /** Returns the samples from a time up to now, including the sample that held at that time. */
  since(fromMs: number): Samples;
}

const storageKey = 'patchbay-pins';
const recordings = new Map<string, { recording: Recording; subscriptions: readonly Unsubscribable[] }>(); // limited by `maxRecordings`
const [pinned, setPinned] = createSignal<readonly string[]>(recallTexts(storageKey).slice(-maxPins));

export const pins = pinned;
export const isPinned = (address: string) => pinned().includes(address);

/** Pins or unpins a parameter. If there are more than `maxPins` pins, the oldest pin is dropped. */
export function switchPin(address: string): void {
  const others = pinned().filter((one) => one !== address);
  const next = isPinned(address) ? others : [...others, address].slice(-maxPins);
  setPinned(next);
  keep(storageKey, JSON.stringify(next));
}

/** Returns the recording of a parameter, and starts the recording if necessary. */
export function record(address: string): Recording {
  const present = recordings.get(address);
  if (present) return present.recording;
  if (recordings.size >= maxRecordings) {
    const [oldest] = [...recordings.keys()].filter((one) => !isPinned(one));
    for (const subscription of recordings.get(oldest!)?.subscriptions ?? []) subscription.unsubscribe();
    recordings.delete(oldest!);
  }
  const times: number[] = [];
  const values: (number | null)[] = [];
  const parameter = hub.param(address);
  const take = () => {
    const sample = parameter.isStale ? null : toSample(parameter.value);
    if (sample === null && (values.at(-1) ?? null) === null) return;
    times.push(Date.now());
    values.push(sample);
    if (times.length < 2 * maxSamples) return;
    times.splice(0, maxSamples);
    values.splice(0, maxSamples);
  };
  const subscriptions = [
    parameter.subscribe({ next: take, error: () => {} }),
    parameter.stale$.subscribe({ next: take, error: () => {} }),
  ];
  const recording: Recording = {
    since(fromMs) {
      const later = times.findIndex((time) => time >= fromMs);
      const start = Math.max(0, (later < 0 ? times.length : later) - 1, times.length - maxSamples);
      const last = values.at(-1) ?? null;
      return { times: [...times.slice(start), Date.now()], values: [...values.slice(start), last] };
    },
  };
  recordings.set(address, { recording, subscriptions });
  return recording;
}

function toSample(value: Value | undefined): number | null {
  return value === undefined || typeof value === 'string' ? null : Number(value);
}
