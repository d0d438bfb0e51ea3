// The user of the console, and the rights of that user. The console does not offer actions that the user may not perform.

import { createEffect, createMemo, createRoot, createSignal, on } from 'solid-js';
import { createMatcher } from '../../client/replica/replica-pattern.ts';
import { messageOf } from '../../model/error.ts';
import type { Access } from '../../model/parameter.ts';
import type { Me } from '../../wire/http/user-shapes.ts';
import { isStale, linkState } from './page-hub.ts';
import { getJson, postJson, Refusal } from './page-request.ts';
import { usePolling } from './polled.ts';

/** The pause before a failed request is repeated. */
const askAgainMs = 5000;

const [known, setKnown] = createSignal<Me>();
/** Whether the hub rejects the credentials of the browser. The browser would ask for a password with every further request. */
let isRejected = false;

/** The user of the console; undefined until the hub has answered. */
export const me = known;
export const mayManage = () => me()?.manage ?? false;
/** Whether the user may edit at least one flow file. */
export const mayEdit = () => (me()?.edit.length ?? 0) > 0;

const mayWrite = createRoot(() => {
  let isAnswered = false;
  const learnIt = async () => {
    isAnswered = await learn();
  };
  const ask = usePolling(learnIt, () => (isAnswered ? undefined : askAgainMs));
  createEffect(on(isStale, ask)); // rights may have changed while the link was down
  // A socket does not report a refused handshake: a user who was signed out meanwhile is detected here.
  createEffect(on(linkState, ({ name }) => (name === 'waiting' || name === 'closed') && !isRejected && ask()));
  return createMemo(() => createMatcher(me()?.write ?? [], []));
});

/** Returns why the user cannot set a parameter; empty if allowed. Denied parameters are not visible at all. */
export function whyReadOnly(address: string, access?: Access): string {
  if (access === 'read-only') return 'Read-only: set only by the hub.';
  return mayWrite()(address) ? '' : 'Read-only: you are not allowed to set it.';
}

/** Returns the access that the user has to a parameter. */
export function ownAccess(address: string, access: Access): Access {
  return whyReadOnly(address, access) ? 'read-only' : access;
}

/** Asks the hub for the user and the rights; returns whether it has answered. */
async function learn(): Promise<boolean> {
  try {
    const answer = await getJson<Me>('/hub/me');
    if (answer.maySignIn && (linkState().name === 'closed' || isNobody(answer))) signInAgain();
    else setKnown(answer);
    isRejected = false;
  } catch (error) {
    isRejected = isRefused(error, 'unauthorized');
    return isRejected;
  }
  return true;
}

function isNobody({ user, read, write, dashboards }: Me): boolean {
  return user === '' && read.length + write.length + dashboards.length === 0;
}

/** Opens the sign-in page, which returns here. */
export function signInAgain(): void {
  location.assign(`/hub/sign-in${location.hash}`);
}

/**
 * Signs out the cookie of this browser, if it has one, and opens the sign-in page. Returns why the user may still be signed in; empty
 * if signed out.
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
