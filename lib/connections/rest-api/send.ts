// The body of an answer that is there whole. What its connection does not take waits here and not in the server, which would hold any
// number of answers that a client asks for and does not read: a connection on which one waits gets no further answer.

import type { HttpResponse } from '../../net/uws.ts';
import { servedHits } from './limit-hits.ts';
import { remoteAddress } from './remote-address.ts';

/** Of longer answers some are left to the server, so that others can be pipelined behind them; of a client that reads none it holds few. */
const longBytes = 128 * 1024;
const leftToServer = 0.75;

/** Ends an answer with its body. */
export function send(response: HttpResponse, body: string | ArrayBuffer | Uint8Array): void {
  const total = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  if (total === 0 || response.isHead || (total > longBytes && Math.random() < leftToServer)) {
    response.end(body);
    return;
  }
  const [, isDone] = response.tryEnd(body, total);
  if (!isDone) sendRest(response, body, total);
}

function sendRest(response: HttpResponse, body: string | ArrayBuffer | Uint8Array, total: number): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : new Uint8Array(body); // copied: it may be used again
  const hits = total > longBytes ? undefined : servedHits(); // who leaves in the middle of a long answer has done no wrong
  const client = remoteAddress(response);
  response.onAborted(() => hits?.add('unreadAnswers', client));
  response.onWritable((offset) => response.tryEnd(bytes.subarray(offset), total)[0]);
}
