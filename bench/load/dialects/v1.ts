// patchbay.v1 with the delivery `all`: changes go in as `set` messages with ids, one or more per batch, and come out in frames split
// wherever the hub likes. Each distinct frame is parsed in full; each socket must receive every change once and in order.

import { protocolName } from '../../../lib/wire/protocol.ts';
import { FrameCache } from '../../../spec/support/load/frame-cache.ts';
import { FrameReader } from '../../../spec/support/load/frame-reader.ts';
import { readMessage } from '../../../spec/support/load/v1-socket.ts';
import { encodeClientFrame, encodeClientText, opcodes } from '../../../spec/support/load/web-socket.ts';
import { type Dialect, type Entry, filteredGroup, type Receiver } from './dialect.ts';

const leastCycle = 4096;
/** With this many changes to one parameter, a message stays below the hub's limit of 64 KiB. */
const longestMessage = 4096;

/** The contents of a frame: `count` changes from `first` on, and whether it ends the snapshot of the subscription. */
interface Changes {
  readonly first: number;
  readonly count: number;
  readonly isEnd: boolean;
}

/** Creates the dialect for batches of changes to one parameter; a socket subscribes to all parameters, or to a few. */
export function createV1Dialect(address: string, batch: number, isFiltered = false): Dialect {
  const batches = Math.ceil(leastCycle / batch);
  const cycle = batches * batch;
  let id: number | undefined;

  const read = (text: string): Changes => {
    const { def = [], set = [], end, lost } = readMessage(text);
    if (lost !== undefined) throw new Error(`expected every change, got ${text.slice(0, 300)}`);
    id ??= def.find(([, defined]) => defined === address)?.[0];
    const changes = set.map(([setId, value]) => {
      const change = Math.round(value * 1000);
      if (setId !== id || value !== change / 1000)
        throw new Error(`expected thousandths in ${id}, got ${value} in ${setId}`);
      return change;
    });
    const first = changes[0] ?? 0;
    const wrong = changes.findIndex((change, index) => change !== (first + index) % cycle);
    if (wrong >= 0)
      throw new Error(`expected ${((first + wrong) % cycle) / 1000} in its turn, got ${changes[wrong]! / 1000}`);
    return { first, count: changes.length, isEnd: end === 1 };
  };
  const cache = new FrameCache(read);

  const enter = (include: string): Entry => ({
    path: '/ws',
    protocol: protocolName,
    greeting: encodeClientText(JSON.stringify({ sub: 1, include: [include], delivery: 'all' })),
  });
  const frames = (index: number): Buffer => {
    const messages: Buffer[] = [];
    for (let from = 0; from < batch; from += longestMessage) {
      const count = Math.min(longestMessage, batch - from);
      const set = Array.from({ length: count }, (_, change) => [id, (index * batch + from + change) / 1000]);
      messages.push(encodeClientText(JSON.stringify({ set })));
    }
    return Buffer.concat(messages);
  };
  const sent: Buffer[] = [];
  return {
    entry: enter(isFiltered ? filteredGroup(0).glob : '**'),
    bystander: (index) => enter(filteredGroup(index).glob),
    batch: (index) => (sent[index % batches] ??= frames(index % batches)),
    createReceiver: () => new V1Receiver(cache, batch, cycle),
  };
}

class V1Receiver implements Receiver {
  isReady = false;
  batches = 0;
  readonly #cache: FrameCache<Changes>;
  readonly #batch: number;
  readonly #cycle: number;
  readonly #frames = new FrameReader((payload, opcode) => this.#take(payload, opcode));
  #next = 0;
  #changes = 0;
  #answer: Buffer | undefined = undefined;

  constructor(cache: FrameCache<Changes>, batch: number, cycle: number) {
    this.#cache = cache;
    this.#batch = batch;
    this.#cycle = cycle;
  }

  read(chunk: Buffer, length: number): Buffer | undefined {
    this.#answer = undefined;
    this.#frames.read(chunk, length);
    return this.#answer;
  }

  countMistake(batches: number): string | undefined {
    const changes = batches * this.#batch;
    if (this.#changes === changes && this.#frames.isBetweenFrames) return undefined;
    return `received ${this.#changes} changes, expected ${changes} as were sent`;
  }

  #take(payload: Buffer, opcode: number): void {
    if (opcode === opcodes.ping) {
      this.#answer = encodeClientFrame(payload, opcodes.pong);
      return;
    }
    if (opcode !== opcodes.text) throw new Error(`expected texts, got opcode ${opcode}`);
    const place = this.#cache.find(payload, this.#next);
    this.#next = place + 1;
    const { first, count, isEnd } = this.#cache.parsedAt(place);
    this.isReady ||= isEnd;
    if (count === 0) return;
    const expected = this.#changes % this.#cycle;
    if (first !== expected) throw new Error(`expected ${expected / 1000} as the next value, got ${first / 1000}`);
    this.#changes += count;
    this.batches = Math.floor(this.#changes / this.#batch);
  }
}
