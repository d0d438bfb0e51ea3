// What takes too long to be published within one round of the event loop waits here: a long text for very many sockets, and each later
// frame for the same audience. Some milliseconds of it are sent in each round, socket by socket, so that nobody else waits for it.
// Each socket is sent its frames in order. Of an audience for which too much waits, all sockets fall behind, and catch up.

import type { Value } from '../../../../model/value.ts';
import type { Publisher } from '../socket-protocol.ts';
import type { Tally } from '../tally.ts';
import { type FrameEncoder, listOf } from './frame.ts';

/** A frame that takes longer than this, about, is not published in one go. */
export const longFrameMs = 4;
/** So many characters wait for one audience at most, and for all of them. A frame counts as some characters more than its value has. */
const maxCharacters = 4 * 1024 * 1024;
const maxCharactersOfAll = 16 * 1024 * 1024;
const frameCharacters = 64;

/** Sockets subscribe to a topic; `sent` counts what was published on it. */
export interface Topic {
  readonly name: ArrayBuffer;
  readonly sent: Tally;
}

/** A socket that is sent what its audience is told. */
export interface Listener {
  /** Of what waited when it came it is sent nothing: late frames of a lower number. */
  readonly liveFrom: number;
  sendLate(frame: Uint8Array): void;
  /** What waits for it is not sent: it has to catch up. */
  missLate(): void;
}

/** Who is sent a frame: each topic that there is when it leaves. */
export interface Audience {
  readonly topics: readonly Topic[];
  /** How many sockets they have. */
  readonly members: number;
  /** Those sockets that are live, and the highest number from which one of them is. */
  readonly listeners: ReadonlySet<Listener>;
  readonly lastLiveFrom: number;
  /** How many fires of triggers it was told. */
  readonly fires: number;
  /** What it will be told in lists; left out: it is told each change in a frame. */
  readonly list?: ChangeList | undefined;
}

/** Changes in their order; both are as long. */
export interface ChangeList {
  readonly prefixes: Uint8Array[];
  readonly values: Value[];
}

interface LateFrame {
  readonly number: number;
  readonly prefix: Uint8Array;
  readonly value: Value;
  readonly isLong: boolean;
  /** The revision of its change, and how many fires the audience had been told before. */
  readonly revision: number;
  readonly fires: number;
}

/** What waits for one audience. */
interface Line {
  /** In order; the first one is being sent. */
  readonly frames: LateFrame[];
  characters: number;
  /** The sockets that are yet to be sent the first one; undefined: it has not begun. */
  walk: Iterator<Listener> | undefined;
}

interface LateFramesOptions {
  readonly publisher: Publisher;
  readonly encoder: FrameEncoder;
  /** Is called when a socket or a topic has been sent something. */
  readonly onSent: () => void;
  /** Is called with how many characters sockets were sent. */
  readonly notePublished: (characters: number) => void;
}

export class LateFrames {
  readonly #options: LateFramesOptions;
  /** Whose turn it is is the first. */
  readonly #lines = new Map<Audience, Line>();
  #characters = 0;
  /** How many frames have ever been late. */
  #count = 0;

  constructor(options: LateFramesOptions) {
    this.#options = options;
  }

  /** The number of the next frame that is late. */
  get next(): number {
    return this.#count;
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  /** Whether something waits for an audience: all that it is told has to wait behind. */
  has(audience: Audience): boolean {
    return this.#lines.size > 0 && this.#lines.has(audience);
  }

  /** The first frame that waits for an audience. */
  firstOf(audience: Audience): Pick<LateFrame, 'revision' | 'fires'> | undefined {
    return this.#lines.get(audience)?.frames[0];
  }

  add(audience: Audience, frame: Omit<LateFrame, 'number' | 'fires'>): void {
    let line = this.#lines.get(audience);
    if (line === undefined) {
      line = { frames: [], characters: 0, walk: undefined };
      this.#lines.set(audience, line);
    }
    line.frames.push({ ...frame, number: this.#count++, fires: audience.fires });
    this.#hold(line, charactersOf(frame.value));
    if (line.characters > maxCharacters || this.#characters > maxCharactersOfAll) this.#miss(audience, line);
  }

  /** Sends until a time what waits, each audience in its turn; returns whether there is more. */
  advance(endMs: number): boolean {
    while (this.#lines.size > 0) {
      const [audience, line] = this.#lines.entries().next().value!;
      const isDone = this.#send(audience, line, endMs);
      this.#lines.delete(audience);
      if (!isDone) this.#lines.set(audience, line);
      if (performance.now() >= endMs) break;
    }
    return this.#lines.size > 0;
  }

  #send(audience: Audience, line: Line, endMs: number): boolean {
    while (line.frames.length > 0) {
      if (audience.listeners.size > 0 && !this.#sendFirst(audience, line, endMs)) return false;
      line.walk = undefined;
      this.#hold(line, -charactersOf(line.frames.shift()!.value));
      if (performance.now() >= endMs) break;
    }
    return line.frames.length === 0;
  }

  /** Sends the first frame; returns whether all sockets have been sent it. */
  #sendFirst(audience: Audience, line: Line, endMs: number): boolean {
    const { publisher, encoder, onSent, notePublished } = this.#options;
    const { number, prefix, value, isLong } = line.frames[0]!;
    const alone = encoder.encode(prefix, value);
    const frame = audience.list === undefined ? alone : listOf(alone);
    if (!isLong && audience.lastLiveFrom <= number) {
      for (const { name, sent } of audience.topics) {
        publisher.publish(name, frame);
        onSent();
        sent.add(frame.length);
      }
      return true;
    }
    line.walk ??= audience.listeners.values();
    let sockets = 0;
    let isOver = false;
    while (!isOver) {
      const { done, value: listener } = line.walk.next();
      if (done) break;
      if (listener.liveFrom > number) continue;
      listener.sendLate(frame);
      onSent();
      sockets++;
      isOver = performance.now() >= endMs;
    }
    if (typeof value === 'string') notePublished(sockets * value.length);
    return !isOver;
  }

  #miss(audience: Audience, line: Line): void {
    for (const listener of [...audience.listeners]) listener.missLate();
    this.#lines.delete(audience);
    this.#hold(line, -line.characters);
    line.frames.length = 0;
  }

  #hold(line: Line, characters: number): void {
    line.characters += characters;
    this.#characters += characters;
  }
}

function charactersOf(value: Value): number {
  return frameCharacters + (typeof value === 'string' ? value.length : 0);
}
