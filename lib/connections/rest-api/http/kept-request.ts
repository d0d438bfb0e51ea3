// Keeps a request that is answered later than it came: its headers, and what comes of its body meanwhile.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import { limits } from '../limits/limits.ts';
import { holdFor } from './answer/held-for.ts';

/** How much of a body is kept. It is more than any request may have. */
const maxKeptBytes = 2 * limits.bodyBytes.default;

/** Keeps what the server lends for the call of a handler only. */
export function keepRequest(request: HttpRequest): HttpRequest {
  const all: [name: string, value: string][] = [];
  request.forEach((name, value) => void all.push([name, value]));
  const headers = new Map(all.toReversed()); // of several with the same name the server tells the first one as well
  const caseSensitiveMethod = request.getCaseSensitiveMethod();
  const method = request.getMethod(); // the server writes it in lower case in its place
  const url = request.getUrl();
  const query = request.getQuery();
  return {
    getHeader: (name: string | ArrayBuffer) => headers.get(typeof name === 'string' ? name : textOf(name)) ?? '',
    getMethod: () => method,
    getCaseSensitiveMethod: () => caseSensitiveMethod,
    getUrl: () => url,
    getQuery: () => query,
    forEach: (tell: (name: string, value: string) => void) => {
      for (const [name, value] of all) tell(name, value);
    },
  } as HttpRequest;
}

function textOf(name: ArrayBuffer): string {
  return Buffer.from(name).toString('latin1');
}

/** The chunks that the server does not take back, since they are copies. */
const copies = new WeakSet<ArrayBuffer>();

/** A copy of a chunk, which the server takes back, or the chunk if it is one. It is not filled with zeros first: that takes as long as the copy. */
export function copyOf(chunk: ArrayBuffer): ArrayBuffer {
  if (copies.has(chunk)) return chunk;
  const copy = Buffer.allocUnsafeSlow(chunk.byteLength);
  copy.set(new Uint8Array(chunk));
  return copy.buffer as ArrayBuffer;
}

type Reader = Parameters<HttpResponse['onData']>[0];

/**
 * Keeps what comes of a body; returns a function that ends this, to be called also when the client has gone. Whoever asks for the body before
 * that gets all of it.
 */
export function keepBody(response: HttpResponse): () => void {
  const kept: ArrayBuffer[] = [];
  let keptBytes = 0;
  let isWhole = false;
  let reader: Reader | undefined;
  let isKeeping = true;
  const account = holdFor(response, 'requests');
  response.onData((chunk, isLast) => {
    isWhole = isLast;
    if (!isKeeping) {
      reader?.(chunk, isLast);
      return;
    }
    keptBytes += chunk.byteLength;
    if (keptBytes > maxKeptBytes) response.close();
    else {
      const copy = copyOf(chunk);
      copies.add(copy);
      kept.push(copy);
      account.set(keptBytes);
    }
  });
  response.onData = (read) => {
    reader = read;
    for (const [index, chunk] of kept.entries()) read(chunk, isWhole && index === kept.length - 1);
    return response;
  };
  return () => {
    isKeeping = false;
    kept.length = 0;
    account.set(0);
  };
}
