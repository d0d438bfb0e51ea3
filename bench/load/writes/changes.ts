// The changes that a load makes: thousandths, one after the other, in frames as clients send them and as servers do.

import { encodeClientText, encodeServerText } from '../../../spec/support/load/web-socket.ts';
import { ExpectedStream } from '../received/expected-stream.ts';

export interface Changes {
  /** What one socket receives of them. */
  readonly received: ExpectedStream;
  /** The frames that make the changes, of `count` changes from `first` on; `first` is a multiple of `count`. */
  frames(first: number, count: number): Buffer;
  /** The value that a change sets. */
  valueOf(change: number): string;
}

const leastCycle = 4096;

/** Creates changes of a parameter, sent in batches of `batch`; no two that follow one another are equal. */
export function createChanges(address: string, batch: number): Changes {
  const batches = Math.ceil(leastCycle / batch);
  const values = Array.from({ length: batches * batch }, (_, index) => String(index / 1000));
  const texts = values.map((v) => JSON.stringify({ p: address, v }));
  const sent = Array.from({ length: batches }, (_, index) =>
    Buffer.concat(texts.slice(index * batch, (index + 1) * batch).map(encodeClientText)),
  );
  return {
    received: new ExpectedStream(texts.map(encodeServerText)),
    frames: (first, count) => sent[(first / count) % batches]!,
    valueOf: (change) => values[change % values.length]!,
  };
}
