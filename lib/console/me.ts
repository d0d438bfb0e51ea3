// Who uses the console, and what that may do. What it may not do is not offered.

import { createEffect, createMemo, createRoot, createSignal, on } from 'solid-js';
import { createMatcher } from '../client/pattern.ts';
import type { Access } from '../model/parameter.ts';
import type { Me } from '../wire/http/operation/users.ts';
import { isStale, linkState } from './hub.ts';
import { getJson, postJson } from './request.ts';

const [known, setKnown] = createSignal<Me>();

/** undefined: the hub has not told it yet. */
export const me = known;
export const mayManage = () => me()?.manage ?? false;

const mayWrite = createRoot(() => {
  createEffect(on(isStale, ask)); // whoever is cut off may have other rights when the link is back
  return createMemo(() => createMatcher(me()?.write ?? [], []));
});

/** Why one cannot set a parameter; empty: one can. What one is denied altogether one does not see either. */
export function whyReadOnly(address: string, access?: Access): string {
  if (access === 'read-only') return 'Read-only: the hub alone sets it.';
  return mayWrite()(address) ? '' : 'Read-only: you may not set it.';
}

/** What one can do with a parameter. */
export function ownAccess(address: string, access: Access): Access {
  return whyReadOnly(address, access) ? 'read-only' : access;
}

async function ask(): Promise<void> {
  const answer = await getJson<Me>('/hub/me').catch(() => undefined);
  if (answer?.maySignIn && (linkState().name === 'closed' || isNobody(answer))) signInAgain();
  else if (answer) setKnown(answer);
}

function isNobody({ user, read, write, dashboards }: Me): boolean {
  return user === '' && read.length + write.length + dashboards.length === 0;
}

/** Opens the page to sign in, which comes back here. */
export function signInAgain(): void {
  location.assign(`/hub/sign-in${location.hash}`);
}

/** Ends what the cookie of this browser is good for; one that came with other credentials has none. */
export async function signOut(): Promise<void> {
  await postJson('/hub/sign-out', {}).catch(() => {});
  signInAgain();
}
