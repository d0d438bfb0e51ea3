// Sends an answer whose body is complete. The server would hold any number of answers that a client asks for and does not read. So now
// and then, by chance, `send` looks whether a connection takes its answer. What it does not take waits here, and the connection gets
// no further answer until it has read.

import { type Account, type HeldKind, held } from '../../../../model/held-bytes.ts';
import type { HttpResponse } from '../../../../net/uws.ts';
import { limits } from '../../limits/client-limits.ts';
import { LimitError, type LimitHits } from '../../limits/limit-hits.ts';
import { networkOf } from '../../limits/network.ts';
import { TokenBuckets } from '../../limits/rates.ts';
import { peerOf, remoteAddressOf } from '../../proxies/trusted-proxies.ts';
import { isAwaited } from './expect.ts';

/** To look costs as much as a short answer, so it is done once in so many bytes on average. An answer has its body and a head. */
const lookEvery = 64 * 1024;
const headBytes = 256;
/**
 * Some of the longer answers are left to the server, so that others can be pipelined behind them: so many bytes, and so many more each
 * second. The server cuts who reads nothing of them for 10 s.
 */
const longBytes = 128 * 1024;
const leftToServer = 0.75;
const left = new TokenBuckets(32 * 1024 * 1024, 16 * 1024 * 1024);
/** Whose answers they are. */
const everybody = '';

let untilLook = 0;

/** Ends an answer with its body. */
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

/** Whether a long answer is left to the server. */
function isLeft(bytes: number): boolean {
  if (Math.random() >= leftToServer || left.left(everybody) < bytes) return false;
  left.take(everybody, bytes);
  return true;
}

function sendRest(response: HttpResponse, body: string | ArrayBuffer | Uint8Array, total: number): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : new Uint8Array(body); // a copy, since the body may be used again
  const client = remoteAddressOf(response);
  const mayWellLeave = peerOf(response) === '' || total > longBytes; // empty: it has left already
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

// What the hub holds for HTTP clients until it can go on: bodies that are not whole, answers that are not read, pages that are being made. When
// the hub holds too much for all together, those of the user or network that holds most lose their connections.

/** Cuts the connection of a response, unless it is out. */
export function cut(response: HttpResponse): void {
  try {
    response.close();
  } catch {} // it is out, or its client has gone: the library takes no call any more
}

/**
 * Opens an account of what is held for the client of a response, which must be there. Whoever opens it sets it to 0 when nothing is held any more,
 * as when the client has gone. `share`: whose it is; left out: its network.
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
    setImmediate(cut, response); // the library may be in the middle of a call for it
  };
  const account: Account = held.open({ kind, owner: share, letGo });
  return account;
}

/** Who has no room for a body is told so this late: whoever sends the next one then needs no more of the hub than who waits. */
export const noRoomMs = 1000;

/**
 * Whether a user or network may have so many bytes more of bodies held: as many as it has then are still free for others. To copy a body takes
 * several times as long as to read it, and thousands may come in one round of the loop: so most of them are not kept.
 */
export function hasRoomForBody(share: string, bytes: number): boolean {
  return bytes === 0 || held.bytesOf(share, 'requests') + bytes <= limits.heldBodies.default - held.bytes.requests;
}

/** The error of who has no room. */
export function noRoomForBody(): LimitError {
  const message = 'body: expected fewer bodies at once, too many are not whole yet or wait for their turn';
  return new LimitError('heldBodies', 'unavailable', message);
}

// Knows for which connection a client is being answered. A request is handled in one piece, so nobody has to hand on what counts hits.

let served: LimitHits | undefined;

/** Sets the counts of hits of the client that is being answered. */
export function serveFor(hits: LimitHits | undefined): void {
  served = hits;
}

/** The counts of hits of the client that is being answered. */
export function servedHits(): LimitHits | undefined {
  return served;
}
