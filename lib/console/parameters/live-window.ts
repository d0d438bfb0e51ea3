// Live values of the parameters in view, and when and by whom they were changed. People who only scroll past cost the hub nothing:
// the page asks for a row once the list has stood still for a moment, and asks who changed it once it has changed.

import { type Accessor, batch, createEffect, createSignal, on, onCleanup } from 'solid-js';
import type { ParameterInfo } from '../../wire/http/parameters.ts';
import { createLiveValues, type LiveParameter } from '../live-values.ts';
import { getJson } from '../request.ts';
import { createPace, livelyRate } from './pace.ts';

const defaultSettleMs = 100;
/** How long a value stays marked after its last change. */
const freshMs = 1500; // longer than the pause between two changes that are drawn calmly
/** The page asks who changed rows as soon as one has changed, but no more often than this. */
const infoIntervalMs = 3000;
/** How many characters of addresses go into one request: the hub accepts 4 kB of header. */
const maxQueryLength = 2000;

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
  const [settled, setSettled] = createSignal<readonly string[]>([]);
  const [rate, setRate] = createSignal(fixedRate ?? livelyRate);
  const pace = createPace();
  const values = createLiveValues(settled, rate, (moved) => {
    setRate(fixedRate ?? pace.rateAt(performance.now()));
    mark(moved);
    askSoon();
  });
  /** Bounded by the rows in view. */
  const entries = new Map<string, Entry>();
  const [generation, setGeneration] = createSignal(0);
  let settling: ReturnType<typeof setTimeout> | undefined;
  let asking: ReturnType<typeof setTimeout> | undefined;
  /** Until when rows that have just changed stay marked. The next to fade comes first. Bounded by the rows in view. */
  const marked = new Map<string, number>();
  let fading: ReturnType<typeof setTimeout> | undefined;
  let askedMs = Number.NEGATIVE_INFINITY;

  const settle = () => {
    const wanted = new Set(addresses());
    const isSame = wanted.size === entries.size && [...wanted].every((address) => entries.has(address));
    for (const address of entries.keys()) {
      if (wanted.has(address)) continue;
      entries.delete(address);
      marked.delete(address);
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
    ask();
  };
  const ask = async () => {
    clearTimeout(asking);
    asking = undefined;
    const own = generation();
    askedMs = performance.now();
    for (const query of queriesOf(entries.keys())) {
      if (own !== generation()) return; // other rows are in view by now, and asked for
      const infos = await getJson<ParameterInfo[]>(`/hub/parameters?${query}`).catch(() => []);
      for (const info of infos) entries.get(info.parameter)?.setInfo(info);
    }
  };
  const askSoon = () => {
    asking ??= setTimeout(ask, Math.max(0, askedMs + infoIntervalMs - performance.now()));
  };
  const mark = (moved: ReadonlySet<string>) => {
    const until = performance.now() + freshMs;
    for (const address of moved) {
      marked.delete(address); // so that it is last when it is set
      marked.set(address, until);
      entries.get(address)?.setFresh(true);
    }
    fading ??= setTimeout(fade, freshMs);
  };
  const fade = () => {
    fading = undefined;
    const now = performance.now();
    for (const [address, until] of marked) {
      if (until > now) {
        fading = setTimeout(fade, until - now);
        return;
      }
      marked.delete(address);
      entries.get(address)?.setFresh(false);
    }
  };
  createEffect(
    on(addresses, () => {
      clearTimeout(settling);
      settling = setTimeout(settle, settleMs);
    }),
  );
  onCleanup(() => {
    clearTimeout(settling);
    setGeneration(-1);
    clearTimeout(asking);
    clearTimeout(fading);
  });
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

/** Puts the addresses into queries, each of which is short enough. */
function queriesOf(addresses: Iterable<string>): string[] {
  const queries: string[] = [];
  for (const address of addresses) {
    const part = `address=${encodeURIComponent(address)}`;
    const last = queries.at(-1);
    if (last === undefined || last.length + part.length > maxQueryLength) queries.push(part);
    else queries[queries.length - 1] = `${last}&${part}`;
  }
  return queries;
}
