// Sends an answer whose body is complete. The server would hold any number of unread answers, so `send` checks at random times whether a
// connection accepts its answer. If not, the rest of the answer waits here, and the connection gets no further answer until the client has
// read this one.

import { type Account, type HeldKind, held } from '../../../../model/held-bytes.ts';
import type { HttpResponse } from '../../../../net/uws.ts';
import { limits } from '../../limits/client-limits.ts';
import { LimitError, type LimitHits } from '../../limits/limit-hits.ts';
import { networkOf } from '../../limits/network.ts';
import { TokenBuckets } from '../../limits/rates.ts';
import { peerOf, remoteAddressOf } from '../../proxies/trusted-proxies.ts';
import { isAwaited } from './expect.ts';

/**
 * The average number of bytes between two checks of a connection: a check costs as much as a short answer. Both the body and the headers of
 * an answer count.
 */
const lookEvery = 64 * 1024;
const headBytes = 256;
/**
 * The length above which an answer counts as long, in bytes. Most long answers are left to the server, so that other requests can be
 * pipelined after them, until the number of bytes in `left` is used up; part of it is restored each second. The server cuts off a client
 * that reads nothing for 10 s.
 */
const longBytes = 128 * 1024;
const leftToServer = 0.75;
const left = new TokenBuckets(32 * 1024 * 1024, 16 * 1024 * 1024);
/** The key of the only bucket in `left`. */
const everybody = '';

let untilLook = 0;

/** Ends an answer with its complete body. */
export function send(response: HttpResponse, body: string | ArrayBuffer | Uint8Array): void {
  if ((response.closes || isAwaited(response)) && !response.isHead) {
    response.end(body, true);
    return;
  }
  const length = typeof body === 'string' ? body.length : body.byteLength;
  untilLook -= headBytes + length;
  if (untilLook > 0 || length === 0 || response.isHead || (length > longBytes && isLeft(length))) {
    response.end(body);
    return;
  }
  untilLook = Math.random() * 2 * lookEvery;
  const total = typeof body === 'string' ? Buffer.byteLength(body) : length;
  const [, isDone] = response.tryEnd(body, total);
  if (!isDone) sendRest(response, body, total);
}

/** Returns whether the server may buffer a long answer; if so, counts its bytes. */
function isLeft(bytes: number): boolean {
  if (Math.random() >= leftToServer || left.left(everybody) < bytes) return false;
  left.take(everybody, bytes);
  return true;
}

function sendRest(response: HttpResponse, body: string | ArrayBuffer | Uint8Array, total: number): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : new Uint8Array(body); // a copy, because the caller may reuse the body
  const client = remoteAddressOf(response);
  const mayWellLeave = peerOf(response) === '' || total > longBytes; // an empty address means that the answer has already been sent
  const hits = mayWellLeave ? undefined : servedHits();
  const account = holdFor(response, 'answers');
  account.set(total);
  response.onAborted(() => {
    account.set(0);
    hits?.add('unreadAnswers', client);
  });
  response.onWritable((offset) => {
    const [isTaken, isDone] = response.tryEnd(bytes.subarray(offset), total);
    if (isDone) account.set(0);
    return isTaken;
  });
}

// The data that the hub buffers for HTTP clients: incomplete bodies, unread answers, pages in progress. When the hub holds too much in
// total, the connections of the user or network with the most data are cut.

/** Cuts the connection of a response, unless the answer is complete or the client has disconnected. */
export function cut(response: HttpResponse): void {
  try {
    response.close();
  } catch {} // the answer is complete or the client has disconnected: the library accepts no further calls
}

/**
 * Opens an account for the bytes that the hub holds for the client of a response, which must still be connected. The caller sets the account
 * to 0 when the hub no longer holds any bytes, or when the client has disconnected. `share` is the owner of the
 * bytes, by default the client's network.
 */
export function holdFor(
  response: HttpResponse,
  kind: HeldKind & ('requests' | 'answers'),
  share = networkOf(remoteAddressOf(response)),
): Account {
  const client = remoteAddressOf(response);
  const hits = servedHits();
  const letGo = () => {
    account.set(0);
    hits?.add('heldBytes', client);
    setImmediate(cut, response); // the library may be in the middle of a call for this response
  };
  const account: Account = held.open({ kind, owner: share, letGo });
  return account;
}

/**
 * The delay before a body is refused due to lack of space, in milliseconds. Because of the delay, a client that immediately sends the next
 * request costs the hub no more than a client that waits.
 */
export const noRoomMs = 1000;

/**
 * Returns whether the hub may hold this many more bytes of bodies for a user or network: at least as many bytes as the hub then holds for
 * this owner must remain free for other owners. Copying a body takes several times as long as reading the body, and thousands of bodies may
 * arrive in one round of the event loop, so most of them are not kept.
 */
export function hasRoomForBody(share: string, bytes: number): boolean {
  return bytes === 0 || held.bytesOf(share, 'requests') + bytes <= limits.heldBodies.default - held.bytes.requests;
}

/** Returns the error for a client whose body the hub has no space for. */
export function noRoomForBody(): LimitError {
  const message = 'body: expected fewer request bodies at a time: too many are incomplete or waiting';
  return new LimitError('heldBodies', 'unavailable', message);
}

// Tracks the REST API whose client is being answered. A request is handled synchronously, so callers do not have to pass the limit hits to
// count.

let served: LimitHits | undefined;

/** Sets the counter for the limit hits of the client that is being answered. */
export function serveFor(hits: LimitHits | undefined): void {
  served = hits;
}

/** Returns the counter for the limit hits of the client that is being answered. */
export function servedHits(): LimitHits | undefined {
  return served;
}
