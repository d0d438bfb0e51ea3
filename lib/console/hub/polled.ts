// Lists that the hub tells by HTTP: asked for again and again while the page is seen; what has not changed costs a 304.

import { type Accessor, createEffect, createSignal, on } from 'solid-js';
import { createStore, reconcile } from 'solid-js/store';
import { messageOf } from '../../model/error.ts';
import { usePolling } from '../page/page-timers.ts';
import { request } from './page-request.ts';

const defaultIntervalMs = 1000;

export interface Polled<T> {
  /** The last answer, as a store: of lists, what has the same `id` (or other key) stays the same object. */
  readonly data: Accessor<T | undefined>;
  /** Why the last request failed; empty when it did not. */
  readonly error: Accessor<string>;
  /** The same, as it was thrown; undefined when it did not. */
  readonly fault: Accessor<unknown>;
  /** Asks now. */
  refresh(): void;
}

/** Polls `path`, also one that changes, for as long as the scope that calls it lives; undefined: nothing. */
export function usePolled<T>(
  path: string | Accessor<string | undefined>,
  key = 'id',
  intervalMs = defaultIntervalMs,
): Polled<T> {
  const [store, setStore] = createStore<{ answer?: T | undefined }>({});
  const [fault, setFault] = createSignal<unknown>();
  const wanted = typeof path === 'string' ? () => path : path;
  let etag: string | undefined;

  const ask = usePolling(async (isWanted) => {
    const current = wanted();
    if (current === undefined) return;
    try {
      const response = await request(current, { headers: etag ? { 'if-none-match': etag } : {}, cache: 'no-store' });
      const answer = response.status === 304 ? undefined : ((await response.json()) as T);
      if (!isWanted()) return;
      if (answer !== undefined) {
        etag = response.headers.get('etag') ?? undefined;
        setStore('answer', reconcile(answer, { key }));
      }
      setFault(undefined);
    } catch (problem) {
      if (isWanted()) setFault(problem);
    }
  }, intervalMs);

  createEffect(
    on(wanted, () => {
      etag = undefined;
      setStore('answer', undefined);
      setFault(undefined);
      ask();
    }),
  );
  const error = () => (fault() === undefined ? '' : messageOf(fault()));
  return { data: () => store.answer, error, fault, refresh: ask };
}
