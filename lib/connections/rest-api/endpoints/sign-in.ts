// POST /hub/sign-in and /hub/sign-out: a browser gets a token of its own in a cookie, for the password of a user or the code of a kiosk
// link. GET /hub/sign-in: the page for that. GET /hub/me: who asks.

import { z } from 'zod';
import { HubError } from '../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import { text } from '../../../wire/http/shape.ts';
import { type Me, me, type SignedIn, signedIn, signIn as signInShape } from '../../../wire/http/users.ts';
import { begin, confine } from '../http/answer/headers.ts';
import { send } from '../http/answer/send.ts';
import { answerPost } from '../http/answer-post.ts';
import type { Admitted, Entry, Whence } from '../http/guard/entry.ts';
import { joinedHeaders } from '../input/joined-headers.ts';
import { hasGone, remoteAddressOf, schemeOf } from '../proxies/remote-address.ts';
import type { Visitor } from '../users/visitor.ts';
import { type Context, type Endpoint, page as jsonPage } from './endpoint.ts';
import { page, script, style } from './sign-in-page.ts';

type Office = Pick<Context, 'entry' | 'log' | 'queue'>;

const path = '/hub/sign-in';
const nothing = z.strictObject({});
const about = { need: 'nothing', tag: 'users' } as const;
/** Whoever guesses from the same address keeps nobody from signing in. */
const isUnmetered = true;
const pageText = (...types: readonly string[]) => ({
  200: {
    description: 'The page, or what belongs to it',
    content: Object.fromEntries(types.map((type) => [type, text])),
  },
});

export const signInEndpoints: Endpoint[] = [
  jsonPage({
    ...about,
    path: '/hub/me',
    id: 'readMe',
    summary: 'Who asks, and what that may do',
    answer: me,
    read: ({ entry }, { visitor }) => meOf(entry, visitor),
  }),
  {
    ...about,
    method: 'GET',
    path,
    isUnmetered,
    id: 'readSignIn',
    summary: 'The page to sign in, for browsers',
    answers: pageText('text/html'),
    serve: () => (response) => reply(response, 'text/html; charset=utf-8', page),
  },
  {
    ...about,
    method: 'POST',
    path,
    isUnmetered,
    id: 'signIn',
    summary: 'Lets a browser in by a cookie, for a password or the code of a kiosk link',
    body: { 'application/json': signInShape },
    answers: {
      200: { description: 'Who that is', headers: ['Set-Cookie'], content: { 'application/json': signedIn } },
    },
    serve: (context) => (response, request, visitor) => signIn(context, visitor, response, request),
  },
  {
    ...about,
    method: 'GET',
    path: `${path}/{file}`,
    isUnmetered,
    id: 'readSignInFile',
    summary: 'The script and the style of that page',
    names: { file: 'Its name' },
    answers: pageText('text/javascript', 'text/css'),
    errors: { 404: 'There is no such file' },
    serve: () => (response, request) => serveFile(response, request.getUrl()),
  },
  {
    ...about,
    method: 'POST',
    path: '/hub/sign-out',
    id: 'signOut',
    summary: 'Ends what a cookie is good for',
    body: { 'application/json': nothing },
    answers: { 200: { description: 'What somebody without it may do', content: { 'application/json': me } } },
    errors: { 409: 'Nobody is signed in by a cookie' },
    serve: (context) => (response, request, visitor) => signOut(context, visitor, response, request),
  },
];

/** Who asks, and what it may do. What it is denied it is not told: that names what it may not see. */
function meOf({ directory }: Pick<Entry, 'directory'>, { name, rights }: Visitor): Me {
  const all = ['**'];
  const { read, write, dashboards, manage, metrics } = rights?.settings ?? {
    ...{ read: all, write: all, dashboards: all, manage: true, metrics: true },
  };
  const maySignIn = [...directory.accounts].length > 0;
  return { user: name, isOpen: rights === undefined, maySignIn, read, write, dashboards, manage, metrics };
}

/** Errors: `unauthorized`, `too-many-attempts`. */
function signIn({ entry, log, queue }: Office, visitor: Visitor, response: HttpResponse, request: HttpRequest): void {
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
function signOut({ entry, log, queue }: Office, visitor: Visitor, response: HttpResponse, request: HttpRequest): void {
  const whence = whenceOf(response, request);
  answerPost({ response, request, visitor, queue, log }, nothing, () => {
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

/** Errors: `not-found`. */
function serveFile(response: HttpResponse, url: string): void {
  if (url === `${path}/page.js`) reply(response, 'text/javascript; charset=utf-8', script);
  else if (url === `${path}/page.css`) reply(response, 'text/css; charset=utf-8', style);
  else throw new HubError('not-found', `${url}: there is no such page`);
}

function reply(response: HttpResponse, type: string, body: string): void {
  confine(response);
  begin(response).writeHeader('Content-Type', type).writeHeader('Cache-Control', 'no-cache');
  send(response, body);
}
