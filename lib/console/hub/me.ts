// The console's user, and the user's rights. The console does not offer actions that the user may not perform.

import { createEffect, createMemo, createRoot, createSignal, on } from 'solid-js';
import { createMatcher } from '../../client/replica/replica-pattern.ts';
import { messageOf } from '../../model/error.ts';
import type { Access } from '../../model/parameter.ts';
import type { Me } from '../../wire/http/user-shapes.ts';
import { t } from '../language/language.ts';
import { isStale, linkState } from './page-hub.ts';
import { getJson, postJson, Refusal } from './page-request.ts';
import { usePolling } from './polled.ts';

/** The pause before a failed request is repeated, in milliseconds. */
const askAgainMs = 5000;

const [known, setKnown] = createSignal<Me>();
/** Whether the hub rejects the browser's credentials, in which case the browser would prompt for a password on every further request. */
let isRejected = false;

/** The user of the console and their rights; undefined until the hub has responded. */
export const me = known;
export const mayManage = () => me()?.manage ?? false;
/** Returns whether the user may edit at least one flow file. */
export const mayEdit = () => (me()?.edit.length ?? 0) > 0;

const mayWrite = createRoot(() => {
  let isAnswered = false;
  const learnIt = async () => {
    isAnswered = await learn();
  };
  const ask = usePolling(learnIt, () => (isAnswered ? undefined : askAgainMs));
  createEffect(on(isStale, ask)); // the user's rights may have changed while the link was down
  // A socket does not report a refused handshake. Therefore, a user who was signed out in the meantime is detected here.
  createEffect(on(linkState, ({ name }) => (name === 'waiting' || name === 'closed') && !isRejected && ask()));
  return createMemo(() => createMatcher(me()?.write ?? [], []));
});

/**
 * Returns the reason why the user cannot set a parameter, or an empty string if the user can set it. Denied parameters are not visible at
 * all.
 */
export function whyReadOnly(address: string, access?: Access): string {
  if (access === 'read-only') return t('Read-only: set only by the hub.');
  return mayWrite()(address) ? '' : t('Read-only: you are not allowed to set it.');
}

/** Returns the access that the user has to a parameter, given the parameter's own access. */
export function ownAccess(address: string, access: Access): Access {
  return whyReadOnly(address, access) ? 'read-only' : access;
}

/** Asks the hub for the user and the user's rights. Resolves to whether the hub has responded. */
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

/** Opens the sign-in page in the language of the URL. The sign-in page leads back to this page. */
export function signInAgain(): void {
  location.assign(`/hub/sign-in${location.search}${location.hash}`);
}

/**
 * Signs out using this browser's cookie, if there is one, and opens the sign-in page. Returns the reason why the user may still be signed
 * in, or an empty string if the user is signed out.
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
