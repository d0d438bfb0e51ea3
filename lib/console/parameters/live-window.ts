// Live values of the parameters that are seen, and when and by whom they were changed. What is only scrolled past costs the
// hub nothing: a row is asked for once the list has stood still for a moment, and who changed it when it has changed.

import { type Accessor, createEffect, createSignal, on, onCleanup } from 'solid-js';
import type { ParameterInfo } from '../api.ts';
import { createLiveValues, type LiveParameter } from '../live-values.ts';
import { getJson } from '../request.ts';

/**
 * How often a second a row is drawn that goes on changing; a change after a pause is drawn at once. A page of rows that all
 * change is the most that the console asks of a machine, which may be the hub's.
 */
const rowRate = 3;
const defaultSettleMs = 100;
/** Who changed rows is asked for as soon as one has changed, but no more often than this. */
const infoIntervalMs = 2000;
/** How many characters of addresses go into one request: the hub takes 4 kB of header. */
const maxQueryLength = 2000;

export interface LiveRow extends LiveParameter {
  readonly info: Accessor<ParameterInfo | undefined>;
}

interface Entry extends LiveRow {
  setInfo(info: ParameterInfo): void;
}

/** Follows `addresses`, for the scope that calls it; what it returns finds the row of one that is followed. */
export function useLiveRows(
  addresses: Accessor<readonly string[]>,
  { rate = rowRate, settleMs = defaultSettleMs } = {},
): (address: string) => LiveRow | undefined {
  const [settled, setSettled] = createSignal<readonly string[]>([]);
  const values = createLiveValues(settled, rate);
  /** Bounded by what is seen. */
  const entries = new Map<string, Entry>();
  const [generation, setGeneration] = createSignal(0);
  let settling: ReturnType<typeof setTimeout> | undefined;
  let asking: ReturnType<typeof setTimeout> | undefined;
  let askedMs = Number.NEGATIVE_INFINITY;

  const settle = () => {
    const wanted = new Set(addresses());
    const isSame = wanted.size === entries.size && [...wanted].every((address) => entries.has(address));
    for (const address of entries.keys()) {
      if (wanted.has(address)) continue;
      entries.delete(address);
      values.drop(address);
    }
    for (const address of wanted) if (!entries.has(address)) entries.set(address, createEntry(values.of(address)));
    if (isSame) return;
    setSettled([...wanted]);
    setGeneration((count) => count + 1);
    ask();
  };
  const ask = async () => {
    clearTimeout(asking);
    asking = undefined;
    const own = generation();
    askedMs = performance.now();
    for (const query of queriesOf(entries.keys())) {
      if (own !== generation()) return; // others are seen, and asked for
      const infos = await getJson<ParameterInfo[]>(`/hub/parameters?${query}`).catch(() => []);
      for (const info of infos) entries.get(info.parameter)?.setInfo(info);
    }
  };
  const askSoon = () => {
    asking ??= setTimeout(ask, Math.max(0, askedMs + infoIntervalMs - performance.now()));
  };
  createEffect(
    on(
      () => {
        generation();
        return [...entries.values()].map(({ moves, value }) => [moves(), value()]);
      },
      askSoon,
      { defer: true },
    ),
  );
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
  });
  return (address) => {
    generation();
    return entries.get(address);
  };
}

function createEntry(parameter: LiveParameter): Entry {
  const [info, setInfo] = createSignal<ParameterInfo>();
  return { ...parameter, info, setInfo };
}

/** The addresses as queries, each short enough. */
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
