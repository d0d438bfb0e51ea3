// Live values of the parameters in view, and when and by whom they were changed. People who only scroll past cost the hub nothing:
// the page asks for a row once the list has stood still for a moment, and asks who changed it once it has changed.

import { type Accessor, batch, createEffect, createSignal, on } from 'solid-js';
import type { ParameterInfo } from '../../../wire/http/parameters.ts';
import type { LiveParameter } from '../../hub/live-cells.ts';
import { createLiveValues } from '../../hub/live-values.ts';
import { useDelay } from '../../page/page-timers.ts';
import { createChangeInfo } from '../change-info.ts';
import { createFreshMarks } from './fresh-marks.ts';
import { createPace, livelyRate } from './pace.ts';

const defaultSettleMs = 100;

export interface LiveRow extends LiveParameter {
  readonly info: Accessor<ParameterInfo | undefined>;
  /** Whether it has just changed. */
  readonly isFresh: Accessor<boolean>;
}

interface Entry extends LiveRow {
  setInfo(info: ParameterInfo): void;
  setFresh(isFresh: boolean): void;
}

/**
 * Follows the addresses for the scope that calls it. The function that it returns finds the row of an address. Without a `rate`
 * people see a change after a pause at once, and values that go on changing more calmly.
 */
export function useLiveRows(
  addresses: Accessor<readonly string[]>,
  { rate: fixedRate, settleMs = defaultSettleMs }: { rate?: number; settleMs?: number } = {},
): (address: string) => LiveRow | undefined {
  /** Bounded by the rows in view. */
  const entries = new Map<string, Entry>();
  const [generation, setGeneration] = createSignal(0);
  const [settled, setSettled] = createSignal<readonly string[]>([]);
  const [rate, setRate] = createSignal(fixedRate ?? livelyRate);
  const pace = createPace();
  const settling = useDelay();
  const marks = createFreshMarks((address, isFresh) => entries.get(address)?.setFresh(isFresh));
  const info = createChangeInfo(
    () => entries.keys(),
    (told) => entries.get(told.parameter)?.setInfo(told),
  );
  const values = createLiveValues(settled, rate, (moved) => {
    setRate(fixedRate ?? pace.rateAt(performance.now()));
    marks.mark(moved);
    info.askSoon();
  });

  const settle = () => {
    const wanted = new Set(addresses());
    const isSame = wanted.size === entries.size && [...wanted].every((address) => entries.has(address));
    for (const address of entries.keys()) {
      if (wanted.has(address)) continue;
      entries.delete(address);
      marks.drop(address);
      values.drop(address);
    }
    for (const address of wanted) if (!entries.has(address)) entries.set(address, createEntry(values.of(address)));
    if (isSame) return;
    pace.restart();
    batch(() => {
      setRate(fixedRate ?? livelyRate);
      setSettled([...wanted]);
    });
    setGeneration((count) => count + 1);
    info.restart();
  };
  createEffect(on(addresses, () => settling.start(settleMs, settle)));
  return (address) => {
    generation();
    return entries.get(address);
  };
}

function createEntry(parameter: LiveParameter): Entry {
  const [info, setInfo] = createSignal<ParameterInfo>();
  const [isFresh, setFresh] = createSignal(false);
  return { ...parameter, info, setInfo, isFresh, setFresh };
}
