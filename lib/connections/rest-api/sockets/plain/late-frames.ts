// Holds frames that take too long to publish within one round of the event loop: long values for very many sockets, and all later frames
// for the same audience. In each round, a few milliseconds are spent on sending late frames, socket by socket, so that no other client
// waits. Each socket gets its frames in order. If too much is waiting for an audience, all of its sockets fall behind and catch up.

import type { Value } from '../../../../model/value.ts';
import type { Publisher } from '../socket-protocol.ts';
import type { Tally } from '../tally.ts';
import { type FrameEncoder, listOf } from './frame.ts';

/** The approximate publishing time above which a frame is not published immediately, in milliseconds. */
export const longFrameMs = 4;
/**
 * The maximum number of characters that may wait for one audience, and for all audiences together. Each frame counts as the length of its
 * value plus `frameCharacters`.
 */
const maxCharacters = 4 * 1024 * 1024;
const maxCharactersOfAll = 16 * 1024 * 1024;
const frameCharacters = 64;

/** A topic to which sockets subscribe in uWebSockets.js; `sent` counts the frames that have been published on the topic. */
export interface Topic {
  readonly name: ArrayBuffer;
  readonly sent: Tally;
}

/** A live socket in an audience. */
export interface Listener {
  /** The number of the first late frame that the listener receives: earlier frames were already waiting when the listener joined. */
  readonly liveFrom: number;
  sendLate(frame: Uint8Array): void;
  /** Called when waiting frames have been dropped and this listener has to catch up. */
  missLate(): void;
}

/** The receivers of a frame: the sockets on all topics of a group. */
export interface Audience {
  readonly topics: readonly Topic[];
  /** The number of sockets on all topics. */
  readonly members: number;
  /** The live sockets, and the highest `liveFrom` of these sockets. */
  readonly listeners: ReadonlySet<Listener>;
  readonly lastLiveFrom: number;
  /** The number of firings of triggers that were sent to the audience. */
  readonly fires: number;
  /** The changes for the next list; if omitted, each change is sent in its own frame. */
  readonly list?: ChangeList | undefined;
}

/** Changes in order, each as the prefix of its frame and its value. Both arrays have the same length. */
export interface ChangeList {
  readonly prefixes: Uint8Array[];
  readonly values: Value[];
}

interface LateFrame {
  readonly number: number;
  readonly prefix: Uint8Array;
  readonly value: Value;
  readonly isLong: boolean;
  /** The revision of the change, and the number of firings that were sent to the audience before the frame. */
  readonly revision: number;
  readonly fires: number;
}

/** The frames that wait for one audience. */
interface Line {
  /** The frames in order. The first frame is the next to be sent, or is being sent. */
  readonly frames: LateFrame[];
  characters: number;
  /** The sockets that the first frame has not reached yet; undefined if sending the frame has not begun. */
  walk: Iterator<Listener> | undefined;
}

interface LateFramesOptions {
  readonly publisher: Publisher;
  readonly encoder: FrameEncoder;
  /** Called after each frame is sent to a socket or published on a topic. */
  readonly onSent: () => void;
  /** Called with the number of characters that were sent, counted once for each socket. */
  readonly notePublished: (characters: number) => void;
}

export class LateFrames {
  readonly #options: LateFramesOptions;
  /** The lines, keyed by audience, in the order of their turns. */
  readonly #lines = new Map<Audience, Line>();
  #characters = 0;
  /** The number of frames that have been late so far. */
  #count = 0;

  constructor(options: LateFramesOptions) {
    this.#options = options;
  }

  /** The number that the next late frame gets. */
  get next(): number {
    return this.#count;
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  /** Returns whether frames are waiting for an audience. If so, all further frames for this audience have to wait as well. */
  has(audience: Audience): boolean {
    return this.#lines.size > 0 && this.#lines.has(audience);
  }

  /** Returns the oldest frame that is waiting for an audience; undefined if no frame is waiting. */
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

  /** Sends waiting frames until `endMs`, to each audience in turn; returns whether frames are still waiting. */
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

  /** Sends the first frame in a line until `endMs`; returns whether all sockets have received the frame. */
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
