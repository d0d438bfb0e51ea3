// Asks the hub for its audit, newest first, page by page; new entries come on top.

import { type Accessor, createEffect, createSignal, on } from 'solid-js';
import { createStore, reconcile } from 'solid-js/store';
import type { AuditPage } from '../../wire/http/past.ts';
import { getJson } from '../hub/page-request.ts';
import { useInterval, useOneAtATime } from '../page/page-timers.ts';
import { addOlder, type HeldAudit, refresh } from './audit-pages.ts';

const refreshMs = 1000;

export interface Audit {
  /** undefined: the hub has not answered yet. */
  readonly held: Accessor<HeldAudit | undefined>;
  readonly fault: Accessor<unknown>;
  /** Asks for the next page. */
  more(): void;
}

/** Follows what matches a query, `kind=fire&text=door`, for the scope that calls it. */
export function useAudit(query: Accessor<string>): Audit {
  const [store, setStore] = createStore<{ held?: HeldAudit | undefined }>({});
  const [fault, setFault] = createSignal<unknown>();
  let before: number | undefined;
  /** Of which query `store.held` is. */
  let heldFor: string | undefined;
  const ask = useOneAtATime(async (isWanted) => {
    const asked = query();
    const held = heldFor === asked ? store.held : undefined;
    const from = held && before;
    before = undefined;
    try {
      const page = await getJson<AuditPage>(`/hub/audit?${asked}${from === undefined ? '' : `&before=${from}`}`);
      if (!isWanted() || query() !== asked) return;
      const next = held && from !== undefined ? addOlder(held, page) : refresh(held, page);
      setStore('held', reconcile(next, { key: 'n' }));
      heldFor = asked;
      setFault(undefined);
    } catch (problem) {
      if (isWanted() && query() === asked) setFault(problem);
    }
  });
  createEffect(on(query, ask));
  useInterval(() => !document.hidden && ask(), refreshMs);
  return {
    held: () => store.held,
    fault,
    more() {
      before = store.held?.next;
      ask();
    },
  };
}
