// Live values of the parameters in view, with the time and writer of the last change. Scrolling past rows costs the hub nothing: the page
// subscribes to rows only when the list has not moved for a moment, and requests the time and the writer only after a change.
import { type Accessor, batch, createEffect, createSignal, on, onCleanup } from 'solid-js';
import type { ParameterInfo } from '../../../wire/http/parameter-shapes.ts';
import type { LiveParameter } from '../../hub/live-cells.ts';
import { createLiveValues } from '../../hub/live-values.ts';
import { getJson } from '../../hub/page-request.ts';
import { useDelay } from '../../page/page-timers.ts';
import { createPace, livelyRate } from './pace.ts';

const defaultSettleMs = 100;

export interface LiveRow extends LiveParameter {
  readonly info: Accessor<ParameterInfo | undefined>;
  /** Whether the value changed a moment ago. */
  readonly isFresh: Accessor<boolean>;
}

interface Entry extends LiveRow {
  setInfo(info: ParameterInfo): void;
  setFresh(isFresh: boolean): void;
}

/**
 * Follows the addresses until the calling reactive scope is disposed. Returns a function that finds the live row for an address. Without a
 * `rate`, a change after a pause appears immediately, and continuous changes appear at a lower rate.
 */
export function useLiveRows(
  addresses: Accessor<readonly string[]>,
  { rate: fixedRate, settleMs = defaultSettleMs }: { rate?: number; settleMs?: number } = {},
): (address: string) => LiveRow | undefined {
  /** The live rows, keyed by address. Their number is limited by the number of rows in view. */
  const entries = new Map<string, Entry>();
  const [generation, setGeneration] = createSignal(0);
  const [settled, setSettled] = createSignal<readonly string[]>([]);
  const [rate, setRate] = createSignal(fixedRate ?? livelyRate);
  const pace = createPace();
  const settling = useDelay();
  const marks = createFreshMarks((address, isFresh) => entries.get(address)?.setFresh(isFresh));
  const info = createChangeInfo(
    () => entries.keys(),
    (update) => entries.get(update.parameter)?.setInfo(update),
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

// Requests the time and writer of the last change of the parameters in view.

/** The minimum interval between requests that follow changes, in milliseconds. */
const intervalMs = 3000;
/** The maximum number of characters that addresses take in one request, because the hub accepts 4 kB of headers. */
const maxQueryLength = 2000;

interface ChangeInfo {
  /** Requests the last changes of all rows immediately, because other rows are in view. */
  restart(): void;
  /** Requests the last changes of all rows soon, because some values have changed. */
  askSoon(): void;
}

/** Requests the last changes of the `addresses`, and passes each answer to `take`, until the calling reactive scope is disposed. */
function createChangeInfo(addresses: () => Iterable<string>, take: (info: ParameterInfo) => void): ChangeInfo {
  let generation = 0;
  let askedMs = Number.NEGATIVE_INFINITY;
  let asking: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    clearTimeout(asking);
    asking = undefined;
  };
  onCleanup(() => {
    generation++;
    stop();
  });
  const ask = async () => {
    stop();
    const own = generation;
    askedMs = performance.now();
    for (const query of queriesOf(addresses())) {
      if (own !== generation) return; // other rows have come into view
      const infos = await getJson<readonly ParameterInfo[]>(`/hub/parameters?${query}`).catch(() => []);
      infos.forEach(take);
    }
  };
  return {
    restart() {
      generation++;
      void ask();
    },
    askSoon() {
      asking ??= setTimeout(ask, Math.max(0, askedMs + intervalMs - performance.now()));
    },
  };
}

/** Splits addresses into queries of limited length. */
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

// Marks rows whose value has just changed, and removes each mark after a while.

/** How long a value stays marked after its last change, in milliseconds. */
const freshMs = 1500; // longer than the interval at the lower rate

interface FreshMarks {
  mark(addresses: Iterable<string>): void;
  /** Drops the mark of an address that is no longer in view. */
  drop(address: string): void;
}

/**
 * Marks rows whose value has changed, and calls `setFresh` when a mark appears or disappears, until the calling reactive scope is disposed.
 */
function createFreshMarks(setFresh: (address: string, isFresh: boolean) => void): FreshMarks {
  /** When each mark ends, keyed by address, the earliest first. The number of marks is limited by the number of rows in view. */
  const marked = new Map<string, number>();
  let fading: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(fading));
  const fade = () => {
    fading = undefined;
    const now = performance.now();
    for (const [address, until] of marked) {
      if (until > now) {
        fading = setTimeout(fade, until - now);
        return;
      }
      marked.delete(address);
      setFresh(address, false);
    }
  };
  return {
    mark(addresses) {
      const until = performance.now() + freshMs;
      for (const address of addresses) {
        marked.delete(address); // moves the mark to the end
        marked.set(address, until);
        setFresh(address, true);
      }
      fading ??= setTimeout(fade, freshMs);
    },
    drop: (address) => marked.delete(address),
  };
}
