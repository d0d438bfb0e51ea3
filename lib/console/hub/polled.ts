// Polls the hub over HTTP while the page is visible. If the response has not changed, the hub answers with status 304 and without a body.

import { type Accessor, createEffect, createSignal, on, onCleanup } from 'solid-js';
import { createStore, reconcile } from 'solid-js/store';
import { messageOf } from '../../model/error.ts';
import { useDelay } from '../page/page-timers.ts';
import { isStale } from './page-hub.ts';
import { getJson, request } from './page-request.ts';
import { addNewer, addOlder, type Held, pageOf, since } from './pages.ts';

const defaultIntervalMs = 1000;

/**
 * Calls `ask` when the page becomes visible, when the link to the hub is back, `againMs` after each response unless `againMs` is undefined,
 * and on each call of the returned function. One request is in progress at a time: calls during a request lead to one more request
 * afterwards. `ask` never rejects; `isWanted` returns whether its response is still needed.
 */
export function usePolling(
  ask: (isWanted: () => boolean) => Promise<void>,
  againMs: () => number | undefined,
): () => void {
  const pause = useDelay();
  let [isBusy, isAsked, isOver] = [false, false, false];
  const poll = async () => {
    pause.stop();
    isAsked = true;
    if (isBusy) return;
    isBusy = true;
    while (isAsked && !isOver && !document.hidden) {
      isAsked = false;
      await ask(() => !isOver);
    }
    isBusy = false;
    const delayMs = againMs();
    if (!isOver && !document.hidden && delayMs !== undefined) pause.start(delayMs, poll);
  };
  const pollSoon = () => void poll();
  document.addEventListener('visibilitychange', pollSoon);
  createEffect(on(isStale, (stale) => !stale && pollSoon(), { defer: true }));
  onCleanup(() => {
    document.removeEventListener('visibilitychange', pollSoon);
    isOver = true;
  });
  return pollSoon;
}

export interface Polled<T> {
  /** The last response as a Solid store: list items with the same `id` (or other key) stay the same object. */
  readonly data: Accessor<T | undefined>;
  /** The reason why the last request failed. Empty if the request succeeded. */
  readonly error: Accessor<string>;
  /** The error that the last request threw; undefined if the request succeeded. */
  readonly fault: Accessor<unknown>;
  /** Requests the data now, without waiting for the next poll. */
  refresh(): void;
}

/** Polls a path, which may change, until the calling reactive scope is disposed; an undefined path requests nothing. */
export function usePolled<T>(
  path: string | Accessor<string | undefined>,
  key = 'id',
  intervalMs = defaultIntervalMs,
): Polled<T> {
  const [store, setStore] = createStore<{ answer?: T | undefined }>({});
  const [fault, setFault] = createSignal<unknown>();
  const wanted = typeof path === 'string' ? () => path : path;
  let etag: string | undefined;

  const refresh = usePolling(
    async (isWanted) => {
      const current = wanted();
      if (current === undefined) return;
      const isCurrent = () => isWanted() && wanted() === current;
      try {
        const response = await request(current, { headers: etag ? { 'if-none-match': etag } : {}, cache: 'no-store' });
        const answer = response.status === 304 ? undefined : ((await response.json()) as T);
        if (!isCurrent()) return;
        if (answer !== undefined) {
          etag = response.headers.get('etag') ?? undefined;
          setStore('answer', reconcile(answer, { key }));
        }
        setFault(undefined);
      } catch (problem) {
        if (isCurrent()) setFault(problem);
      }
    },
    () => intervalMs,
  );

  createEffect(
    on(wanted, () => {
      etag = undefined;
      setStore('answer', undefined);
      setFault(undefined);
      refresh();
    }),
  );
  const error = () => (fault() === undefined ? '' : messageOf(fault()));
  return { data: () => store.answer, error, fault, refresh };
}

interface ListOptions<Row, Answer> {
  /**
   * Identifies the requested list. A new value means a new list; the previous list stays until the first page of the new list has arrived.
   */
  readonly list: Accessor<unknown>;
  /** Returns what to request. Rows before `from`, in milliseconds since 1970, are dropped. */
  ask(): { readonly path: string; readonly query: URLSearchParams; readonly from?: number };
  rowsOf(answer: Answer): readonly Row[];
  /** Returns the data that identifies a row. */
  keyOf(row: Row): unknown;
  /** Returns the delay before new rows are requested, in milliseconds; undefined means never. */
  againMs(fault: unknown): number | undefined;
}

export interface Pages<Row, Answer> {
  /** The rows received so far; undefined if the hub has not responded yet. */
  readonly held: Accessor<Held<Row> | undefined>;
  /** The last response from the hub. */
  readonly answer: Accessor<Answer | undefined>;
  readonly fault: Accessor<unknown>;
  /** Requests the next page, which contains older rows. */
  more(): void;
}

/** Follows a paged list from the hub, newest first, until the calling reactive scope is disposed. */
export function usePages<Row extends { readonly time: string }, Answer extends { readonly next?: Held<Row>['next'] }>(
  options: ListOptions<Row, Answer>,
): Pages<Row, Answer> {
  const { list, ask, rowsOf, keyOf, againMs } = options;
  const [store, setStore] = createStore<{ held?: Held<Row> | undefined }>({});
  const [answer, setAnswer] = createSignal<Answer>();
  const [fault, setFault] = createSignal<unknown>();
  /** The list to which the rows in `store.held` belong. */
  let heldOf: unknown;
  let wantsOlder = false;
  const poll = usePolling(
    async (isWanted) => {
      const asked = list();
      const isCurrent = () => isWanted() && list() === asked;
      const held = heldOf === asked ? store.held : undefined;
      const before = wantsOlder ? held?.next : undefined;
      wantsOlder = false;
      const { path, query, from = Number.NEGATIVE_INFINITY } = ask();
      if (before !== undefined) query.set('before', String(before));
      try {
        const fetched = await getJson<Answer>(`${path}?${query}`);
        if (!isCurrent()) return;
        const page = pageOf(rowsOf(fetched), fetched.next, keyOf);
        const next = before === undefined ? since(addNewer(held, page), from) : addOlder(held!, page, keyOf);
        setStore('held', reconcile(next, { key: 'id' }));
        heldOf = asked;
        setAnswer(() => fetched);
        setFault(undefined);
      } catch (problem) {
        if (isCurrent()) setFault(problem);
      }
    },
    () => againMs(fault()),
  );
  createEffect(on(list, poll));
  return {
    held: () => store.held,
    answer,
    fault,
    more() {
      wantsOlder = true;
      poll();
    },
  };
}
