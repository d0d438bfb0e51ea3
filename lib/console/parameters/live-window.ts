// Live values of the parameters that are seen, and when and by whom they were changed. What is only scrolled past costs the
// hub nothing: a row is asked for once the list has stood still for a moment.

import { type Accessor, createEffect, createSignal, on, onCleanup } from 'solid-js';
import type { Unsubscribable, Value } from '../../client/index.ts';
import type { ParameterInfo } from '../api.ts';
import { hub } from '../hub.ts';
import { getJson } from '../request.ts';

const defaultSettleMs = 100;
const infoIntervalMs = 1000;
/** How many characters of addresses go into one request: the hub takes 4 kB of header. */
const maxQueryLength = 2000;

export interface LiveRow {
  readonly value: Accessor<Value | undefined>;
  readonly info: Accessor<ParameterInfo | undefined>;
  /** How often it has changed, or fired, since it is seen. */
  readonly changes: Accessor<number>;
}

interface Entry extends LiveRow {
  setInfo(info: ParameterInfo): void;
  readonly subscription: Unsubscribable;
}

/** Follows `addresses`, for the scope that calls it; what it returns finds the row of one that is followed. */
export function useLiveRows(
  addresses: Accessor<readonly string[]>,
  settleMs = defaultSettleMs,
): (address: string) => LiveRow | undefined {
  /** Bounded by what is seen. */
  const entries = new Map<string, Entry>();
  const [generation, setGeneration] = createSignal(0);
  let settling: ReturnType<typeof setTimeout> | undefined;
  let asking: ReturnType<typeof setTimeout> | undefined;

  const settle = () => {
    const wanted = new Set(addresses());
    for (const [address, { subscription }] of entries) {
      if (wanted.has(address)) continue;
      subscription.unsubscribe();
      entries.delete(address);
    }
    for (const address of wanted) if (!entries.has(address)) entries.set(address, follow(address));
    setGeneration((count) => count + 1);
    askForInfo();
  };
  const askForInfo = async () => {
    clearTimeout(asking);
    const own = generation();
    if (!document.hidden)
      for (const query of queriesOf(entries.keys())) {
        const infos = await getJson<ParameterInfo[]>(`/hub/parameters?${query}`).catch(() => []);
        for (const info of infos) entries.get(info.parameter)?.setInfo(info);
      }
    if (own === generation()) asking = setTimeout(askForInfo, infoIntervalMs);
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
    for (const { subscription } of entries.values()) subscription.unsubscribe();
  });
  return (address) => {
    generation();
    return entries.get(address);
  };
}

function follow(address: string): Entry {
  const [value, setValue] = createSignal<Value | undefined>();
  const [info, setInfo] = createSignal<ParameterInfo>();
  const [changes, setChanges] = createSignal(0);
  const parameter = hub.param(address);
  let isTold = false;
  const subscription = parameter.subscribe({
    next(next) {
      setValue(() => next);
      if (isTold || parameter.type === 'T') setChanges((count) => count + 1); // else it is what there was
      isTold = true;
    },
    error: () => {},
  });
  return { value, info, changes, setInfo, subscription };
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
