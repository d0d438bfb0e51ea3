// Who uses the console, and what that may do. What it may not do is not offered.

import { createEffect, createMemo, createRoot, createSignal, on } from 'solid-js';
import { createMatcher } from '../../client/replica/replica-pattern.ts';
import { messageOf } from '../../model/error.ts';
import type { Access } from '../../model/parameter.ts';
import type { Me } from '../../wire/http/user-shapes.ts';
import { isStale, linkState } from './page-hub.ts';
import { getJson, postJson, Refusal } from './page-request.ts';
import { usePolling } from './polled.ts';

/** A question that was not answered is asked again after this pause. */
const askAgainMs = 5000;

const [known, setKnown] = createSignal<Me>();
/** Whether the browser sends wrong credentials. It has asked people for a password already, and would with every question. */
let isTurnedAway = false;

/** undefined: the hub has not told it yet. */
export const me = known;
export const mayManage = () => me()?.manage ?? false;

const mayWrite = createRoot(() => {
  let isAnswered = false;
  const learnIt = async () => {
    isAnswered = await learn();
  };
  const ask = usePolling(learnIt, () => (isAnswered ? undefined : askAgainMs));
  createEffect(on(isStale, ask)); // whoever is cut off may have other rights when the link is back
  // A socket does not tell that its handshake was refused: who is signed out meanwhile learns it here.
  createEffect(on(linkState, ({ name }) => (name === 'waiting' || name === 'closed') && !isTurnedAway && ask()));
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

/** Asks who one is; returns whether the hub has answered. */
async function learn(): Promise<boolean> {
  try {
    const answer = await getJson<Me>('/hub/me');
    if (answer.maySignIn && (linkState().name === 'closed' || isNobody(answer))) signInAgain();
    else setKnown(answer);
    isTurnedAway = false;
  } catch (error) {
    isTurnedAway = isRefused(error, 'unauthorized');
    return isTurnedAway;
  }
  return true;
}

function isNobody({ user, read, write, dashboards }: Me): boolean {
  return user === '' && read.length + write.length + dashboards.length === 0;
}

/** Opens the page to sign in, which comes back here. */
export function signInAgain(): void {
  location.assign(`/hub/sign-in${location.hash}`);
}

/**
 * Ends what the cookie of this browser is good for, and opens the page to sign in; one that came with other credentials has none.
 * Returns why it may still be good; empty: it is not.
 */
export async function signOut(): Promise<string> {
  try {
    await postJson('/hub/sign-out', {});
  } catch (error) {
    if (!isRefused(error, 'conflict')) return messageOf(error);
  }
  signInAgain();
  return '';
}

function isRefused(error: unknown, code: Refusal['code']): boolean {
  return error instanceof Refusal && error.code === code;
}
