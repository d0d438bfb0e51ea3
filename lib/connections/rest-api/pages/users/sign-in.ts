// POST /hub/sign-in and /hub/sign-out: a browser gets a token of its own in a cookie, for the password of a user or the code of a kiosk
// link. GET /hub/me: who asks.

import { z } from 'zod';
import { HubError } from '../../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../../net/uws.ts';
import { type Me, type SignedIn, signIn as signInShape } from '../../../../wire/http/users.ts';
import type { Log } from '../../../connection.ts';
import { answerPost } from '../../http/answer-post.ts';
import type { Admitted, Entry, Whence } from '../../http/guard/entry.ts';
import { joinedHeaders } from '../../input/joined-headers.ts';
import type { FairQueue } from '../../pacing/fair-queue.ts';
import { hasGone, remoteAddressOf, schemeOf } from '../../proxies/remote-address.ts';
import type { Visitor } from '../../users/visitor.ts';

/** Who asks, and what it may do. What it is denied it is not told: that names what it may not see. */
export function meOf({ directory }: Pick<Entry, 'directory'>, { name, rights }: Visitor): Me {
  const all = ['**'];
  const { read, write, dashboards, manage, metrics } = rights?.settings ?? {
    ...{ read: all, write: all, dashboards: all, manage: true, metrics: true },
  };
  const maySignIn = [...directory.accounts].length > 0;
  return { user: name, isOpen: rights === undefined, maySignIn, read, write, dashboards, manage, metrics };
}

/** What signing in and out needs. */
export interface SignInOffice {
  readonly entry: Entry;
  readonly log: Log;
  readonly queue: FairQueue;
}

/** Errors: `unauthorized`, `too-many-attempts`. */
export function signIn(
  { entry, log, queue }: SignInOffice,
  visitor: Visitor,
  response: HttpResponse,
  request: HttpRequest,
): void {
  const address = remoteAddressOf(response);
  const whence = whenceOf(response, request);
  const browser = nameOf(request.getHeader('user-agent'));
  answerPost({ response, request, visitor, queue, log }, signInShape, async ({ user = '', password = '', code }) => {
    if (code === undefined) {
      await entry.check(user, password, address, () => hasGone(response));
      return come(entry.admit(user, 'browser', browser, whence));
    }
    const { user: invited, name, dashboard } = entry.exchange(code, address);
    return { ...come(entry.admit(invited, 'kiosk', name, whence)), ...(dashboard !== undefined && { dashboard }) };
  });

  function come({ guest, cookies }: Admitted): SignedIn {
    response.cookies = cookies;
    return meOf(entry, guest);
  }
}

/** Ends the device that asks. */
export function signOut(
  { entry, log, queue }: SignInOffice,
  visitor: Visitor,
  response: HttpResponse,
  request: HttpRequest,
): void {
  const whence = whenceOf(response, request);
  answerPost({ response, request, visitor, queue, log }, z.strictObject({}), () => {
    const { name, device } = visitor;
    if (device === undefined) throw new HubError('conflict', 'sign-out: expected somebody who is signed in here');
    response.cookies = entry.signOut(name, device, whence);
    return meOf(entry, entry.directory.anonymous ?? entry.directory.stranger);
  });
}

function whenceOf(response: HttpResponse, request: HttpRequest): Whence {
  const [cookie = ''] = joinedHeaders(request, 'cookie');
  return { address: remoteAddressOf(response), isSecure: schemeOf(response) === 'https', cookie };
}

/** What a browser is, for people: `Firefox on Linux`. */
function nameOf(userAgent: string): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent)?.[1] ?? 'a browser';
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(userAgent)?.[1];
  return system === undefined ? browser : `${browser} on ${system}`;
}
