// How the studio load talks to the software that runs the studio: the changes from each write arrive in the frames of the hub or of a
// contender. Frames are compared byte for byte with known ones; a frame not seen before is parsed in full, once.

import { protocolName } from '../../../lib/wire/protocol.ts';
import { FrameCache } from '../../../spec/support/load/frame-cache.ts';
import { FrameReader } from '../../../spec/support/load/frame-reader.ts';
import { readMessage } from '../../../spec/support/load/v1-socket.ts';
import {
  encodeClientFrame,
  encodeClientText,
  encodeServerText,
  opcodes,
} from '../../../spec/support/load/web-socket.ts';
import { type Studio, type StudioChange, type StudioName, studios, studioWrites } from '../flows/studio.ts';
import { ExpectedStream } from '../received/expected-stream.ts';
import type { Dialect, Entry, Receiver } from './dialect.ts';
import { StreamReceiver } from './plain.ts';

/**
 * frames: one frame per change, known to the byte; lists: `[{"p":…,"v":…}, …]`; v1: `patchbay.v1`; any order: one frame per change, some of
 * which may overtake others.
 */
export type StudioDialectName = 'frames' | 'lists' | 'v1' | 'any order';

/** Which studio runs, how its changes arrive, and how many writes a message holds. */
export interface StudioLoad {
  readonly name: StudioName;
  readonly dialect: StudioDialectName;
  readonly path: string;
  readonly writesPerMessage: number;
}

/** Creates the dialect of a studio, with `batch` writes per batch. */
export function createStudioDialect({ name, dialect, path, writesPerMessage }: StudioLoad, batch: number): Dialect {
  const known = new Known(studios[name], dialect === 'v1' ? writesPerMessage : 1);
  const sent: Buffer[] = [];
  const messages = (index: number): Buffer => {
    const first = index * batch;
    const writes = Array.from({ length: batch }, (_, at) => known.writes[(first + at) % known.writes.length]![0]!);
    const parts: string[] = [];
    for (let from = 0; from < batch; from += writesPerMessage)
      parts.push(messageOf(writes.slice(from, from + writesPerMessage), dialect, writesPerMessage > 1));
    return Buffer.concat(parts.map(encodeClientText));
  };
  const greeting = encodeClientText(JSON.stringify({ sub: 1, include: ['**'], delivery: 'all' }));
  const entry: Entry = dialect === 'v1' ? { path, protocol: protocolName, greeting } : { path };
  const stream = new ExpectedStream(
    known.changes.map(({ p, v }) => encodeServerText(JSON.stringify({ p, v: String(v) }))),
  );
  const cache = dialect === 'frames' ? undefined : new FrameCache(read[dialect](known));
  return {
    entry,
    bystander: (index) => ({ path: `/ws?filter=^nothing-${index}$` }),
    batch: (index) => (sent[index % known.writes.length] ??= messages(index)),
    createReceiver: () =>
      cache === undefined ? new FramesReceiver(stream, known, batch) : new StudioReceiver(cache, known, batch, dialect),
  };
}

function messageOf(writes: readonly StudioChange[], dialect: StudioDialectName, isList: boolean): string {
  if (dialect === 'v1') return JSON.stringify({ set: writes.map(({ p, v }) => [p, v]) });
  return JSON.stringify(isList ? writes : writes[0]);
}

/** The contents of a frame: `count` changes of the cycle, from `first` on. */
interface Taken {
  readonly first: number;
  readonly count: number;
  readonly isReady: boolean;
}

const readList =
  (studio: Known) =>
  (text: string): Taken => {
    const data = JSON.parse(text) as StudioChange | StudioChange[];
    const changes = [data].flat().map(({ p, v }) => `${p}=${v}`);
    return studio.take(changes, true, text);
  };

const read: Readonly<Record<Exclude<StudioDialectName, 'frames'>, (studio: Known) => (text: string) => Taken>> = {
  'any order': readList,
  lists: readList,
  v1: (studio) => (text) => {
    const { def = [], set = [], end, lost } = readMessage(text);
    if (lost !== undefined) throw new Error(`expected every change, got ${text.slice(0, 300)}`);
    for (const [id, address] of def) studio.ids.set(id, address);
    const changes = set.map(([id, value]) => `${studio.ids.get(id)}=${value}`);
    return studio.take(changes, end === 1, text);
  },
};

/** The changes of a cycle, and where each of its writes ends. The writes of a turn come before the changes that follow from them. */
class Known {
  readonly writes: readonly (readonly StudioChange[])[];
  readonly changes: readonly StudioChange[];
  readonly ids = new Map<number, string>();
  readonly #ends: readonly number[];
  readonly #places: ReadonlyMap<string, number>;

  constructor(studio: Studio, writesPerTurn: number) {
    this.writes = studioWrites(studio);
    const turns = Array.from({ length: this.writes.length / writesPerTurn }, (_, turn) =>
      this.writes.slice(turn * writesPerTurn, (turn + 1) * writesPerTurn),
    );
    this.changes = turns.flatMap((turn) => [
      ...turn.map(([written]) => written!),
      ...turn.flatMap(([, ...followed]) => followed),
    ]);
    let end = 0;
    this.#ends = turns.flatMap((turn) => {
      end += turn.flat().length;
      return turn.map(() => end);
    });
    this.#places = new Map(this.changes.map(({ p, v }, index) => [`${p}=${v}`, index]));
    if (this.#places.size !== this.changes.length) throw new RangeError('expected no change twice in a cycle');
  }

  /** Number of changes that `writes` writes lead to. */
  changesOf(writes: number): number {
    const rest = writes % this.writes.length;
    return ((writes - rest) / this.writes.length) * this.changes.length + (rest === 0 ? 0 : this.#ends[rest - 1]!);
  }

  take(changes: readonly string[], isReady: boolean, text: string): Taken {
    if (changes.length === 0) return { first: 0, count: 0, isReady };
    const first = this.#places.get(changes[0]!);
    if (first === undefined) throw new Error(`expected changes of the studio, got ${text.slice(0, 300)}`);
    const wrong = changes.findIndex((change, at) => this.#places.get(change) !== (first + at) % this.changes.length);
    if (wrong >= 0)
      throw new Error(`expected the next change in its turn, got ${changes[wrong]} after ${changes[wrong - 1]}`);
    return { first, count: changes.length, isReady };
  }
}

class FramesReceiver extends StreamReceiver {
  readonly #stream: ExpectedStream;
  readonly #known: Known;
  readonly #writes: number;
  #received = 0;

  constructor(stream: ExpectedStream, known: Known, batch: number) {
    super(stream, 1);
    this.#stream = stream;
    this.#known = known;
    this.#writes = batch;
  }

  override read(chunk: Buffer, length: number): Buffer | undefined {
    if (!this.#stream.matches(chunk, length, this.#received))
      throw new Error(this.#stream.differenceAt(this.#received, chunk, length));
    this.#received += length;
    while (this.#received >= this.#bytesOf(this.batches + 1)) this.batches++;
    return undefined;
  }

  override countMistake(batches: number): string | undefined {
    const bytes = this.#bytesOf(batches);
    return this.#received === bytes ? undefined : `received ${this.#received} bytes, expected ${bytes} as were sent`;
  }

  #bytesOf(batches: number): number {
    return this.#stream.bytesOf(this.#known.changesOf(batches * this.#writes));
  }
}

class StudioReceiver implements Receiver {
  isReady: boolean;
  batches = 0;
  readonly #cache: FrameCache<Taken>;
  readonly #known: Known;
  readonly #batch: number;
  readonly #mayOvertake: boolean;
  readonly #frames = new FrameReader((payload, opcode) => this.#take(payload, opcode));
  /** Changes that arrived early. */
  readonly #early = new Set<number>();
  #next = 0;
  #changes = 0;
  #answer: Buffer | undefined = undefined;

  constructor(cache: FrameCache<Taken>, known: Known, batch: number, dialect: StudioDialectName) {
    this.#cache = cache;
    this.#known = known;
    this.#batch = batch;
    this.isReady = dialect !== 'v1';
    this.#mayOvertake = dialect === 'any order';
  }

  read(chunk: Buffer, length: number): Buffer | undefined {
    this.#answer = undefined;
    this.#frames.read(chunk, length);
    return this.#answer;
  }

  countMistake(batches: number): string | undefined {
    const changes = this.#known.changesOf(batches * this.#batch);
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
    const { first, count, isReady } = this.#cache.parsedAt(place);
    this.isReady ||= isReady;
    if (count === 0) return;
    const { length } = this.#known.changes;
    const ahead = (first - (this.#changes % length) + length) % length;
    if (this.#mayOvertake) this.#takeEarly(this.#changes + ahead);
    else if (ahead > 0) throw new Error(`expected the next change of the cycle, got one ${ahead} later`);
    else this.#changes += count;
    while (this.#changes >= this.#known.changesOf((this.batches + 1) * this.#batch)) this.batches++;
  }

  /** Takes a change that may arrive early, but must belong to one of the two batches in flight. */
  #takeEarly(change: number): void {
    if (change >= this.#known.changesOf((this.batches + 2) * this.#batch) || this.#early.has(change))
      throw new Error(`expected change ${this.#changes} or one of those under way, got ${change}`);
    this.#early.add(change);
    while (this.#early.delete(this.#changes)) this.#changes++;
  }
}
