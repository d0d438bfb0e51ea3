// The pending releases on this page: pressed buttons that still have to be switched off. They are kept in session storage, and thus survive
// the dashboard and a reload of the page.

import { createSignal } from 'solid-js';
import { messageOf } from '../../../model/error.ts';
import type { Update } from '../../../wire/http/parameter-shapes.ts';
import { hub } from '../../hub/page-hub.ts';
import { keep, recallTexts } from '../../page/storage.ts';
import { createReleases } from './releases.ts';

const key = 'owed-releases';
const [reasons, setReasons] = createSignal<ReadonlyMap<string, string>>(new Map());

export const releases = createReleases(recallTexts(key, 'sessionStorage'), {
  send: (address, isOn) => hub.set(address, isOn),
  changed: (pending) => keep(key, JSON.stringify(pending), 'sessionStorage'),
  settled(address, error) {
    const next = new Map(reasons());
    next.delete(address);
    if (error !== undefined) next.set(address, messageOf(error));
    setReasons(next);
  },
});

/** Returns the reason why a button that is not held may still be on, or an empty string if the button is off. */
export function whyNotOff(address: string): string {
  return reasons().get(address) ?? '';
}

/**
 * From now on, delivers pending releases whenever the link returns and, as far as possible, when the page closes. Call this once per page.
 */
export function deliverReleases(): void {
  hub.state$.subscribe(({ name }) => name === 'resuming' && releases.retry());
  addEventListener('pagehide', () => releases.pending.forEach(sendAtEnd));
}

/**
 * Sends a release while the page is ending. The page's socket may close before its last message is sent, but the browser completes a
 * `keepalive` request.
 */
function sendAtEnd(parameter: string): void {
  const body = JSON.stringify({ parameter, value: false } satisfies Update);
  const headers = { 'content-type': 'application/json' };
  fetch('/update', { method: 'POST', keepalive: true, headers, body }).catch(() => {});
}
