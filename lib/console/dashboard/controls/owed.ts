// What this page owes of buttons that were pressed: that they go off. It outlasts the dashboard, and a reload of the page, which the
// browser tells by what it keeps for each tab.

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
  changed: (owed) => keep(key, JSON.stringify(owed), 'sessionStorage'),
  settled(address, error) {
    const next = new Map(reasons());
    next.delete(address);
    if (error !== undefined) next.set(address, messageOf(error));
    setReasons(next);
  },
});

/** Why a button that is not held is not known to be off; empty: it is. */
export function whyNotOff(address: string): string {
  return reasons().get(address) ?? '';
}

/** Pays what is owed whenever the link is back, and as well as a page can when it ends. Called once. */
export function payReleases(): void {
  hub.state$.subscribe(({ name }) => name === 'resuming' && releases.retry());
  addEventListener('pagehide', () => releases.owed.forEach(sendLastWord));
}

/** The socket of a page that ends may end before what it was given last has left. The browser sends this on its own. */
function sendLastWord(parameter: string): void {
  const body = JSON.stringify({ parameter, value: false } satisfies Update);
  const headers = { 'content-type': 'application/json' };
  fetch('/update', { method: 'POST', keepalive: true, headers, body }).catch(() => {});
}
