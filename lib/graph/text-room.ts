// The room that long texts have as values, of all parameters together. A parameter holds its value and the one before, which `explain` shows:
// so a text counts twice, and another one as long always has its place. Whoever writes may take as much of the room as is then free for
// others, so nobody can fill it alone.
import { groupDigits } from '../model/digits.ts';
import { HubError } from '../model/error.ts';
import type { Change } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import { writerOf } from '../model/writer.ts';
import type { ParameterNode } from './parameter-node.ts';

/** Texts of at most so many characters are not counted: each parameter may have them. */
const uncountedLength = 1024;
const shareOfHeap = 1 / 8;
const leastCharacters = 128 * 1024 * 1024;

/** How many characters long texts may have together where the heap may grow to so many bytes. */
export function mostTextCharacters(heapBytes: number): number {
  return Math.max(leastCharacters, Math.floor(heapBytes * shareOfHeap));
}

/** Whether a value is a text that counts. */
export function isLongText(value: Value | undefined): value is string {
  return typeof value === 'string' && value.length > uncountedLength;
}

interface Holding {
  readonly writer: string;
  readonly characters: number;
}

export class TextRoom {
  #most = Number.POSITIVE_INFINITY;
  readonly #holdings = new Map<ParameterNode, Holding>();
  readonly #byWriter = new Map<string, number>();
  #total = 0;
  /** What the writes of a turn have that may not have been delivered yet, and which turn that is. */
  #queued = 0;
  #turn = 0;
  /** true: what is written now is counted, and never refused. */
  isOpen = false;

  /** So many characters may be held from now on. */
  allow(most: number): void {
    this.#most = most;
  }

  get hasAny(): boolean {
    return this.#holdings.size > 0;
  }

  /** How many characters are counted. */
  get characters(): number {
    return this.#total;
  }

  /** Takes room for a long text that is about to be written, until another turn asks; 0: there is none yet. Errors: `conflict`. */
  take(node: ParameterNode, text: string, by: Pick<Change, 'origin' | 'cause'>, turn: number): void {
    if (turn === 0 || turn !== this.#turn) this.#queued = 0;
    this.#turn = turn;
    const held = this.#holdings.get(node);
    const heldCharacters = held?.characters ?? 0;
    const characters = lengthOfBoth(text, node.value);
    if (characters > heldCharacters && !this.isOpen && this.#most !== Number.POSITIVE_INFINITY) {
      const writer = writerOf(by);
      const own = (this.#byWriter.get(writer) ?? 0) - (held?.writer === writer ? heldCharacters : 0) + characters;
      const free = this.#most - (this.#total - heldCharacters + characters + this.#queued);
      if (own > free) throw this.#noRoom(node, text);
    }
    this.#queued += characters;
  }

  /** Counts a change of a parameter before it is stored. What another hub owns is bounded there. */
  count(node: ParameterNode, change: Change): void {
    this.forget(node);
    const characters = lengthOfBoth(change.value, node.value);
    if (characters === 0 || node.remote !== undefined) return;
    const writer = writerOf(change);
    this.#holdings.set(node, { writer, characters });
    this.#byWriter.set(writer, (this.#byWriter.get(writer) ?? 0) + characters);
    this.#total += characters;
  }

  /** The parameter is no more, or holds nothing long. */
  forget(node: ParameterNode): void {
    const held = this.#holdings.get(node);
    if (held === undefined) return;
    this.#holdings.delete(node);
    this.#total -= held.characters;
    const left = this.#byWriter.get(held.writer)! - held.characters;
    if (left > 0) this.#byWriter.set(held.writer, left);
    else this.#byWriter.delete(held.writer);
  }

  #noRoom(node: ParameterNode, text: string): HubError {
    const most = `${groupDigits(Math.floor(this.#most / 2))} characters of all long texts together, of which each writer leaves half free`;
    const message = `${node.address}: expected at most ${most}, got ${groupDigits(text.length)} more`;
    return new HubError('conflict', message, { where: node.address });
  }
}

/** How much counts of a value and the one before. */
function lengthOfBoth(value: Value, before: Value | undefined): number {
  return lengthOf(value) + Math.max(lengthOf(value), lengthOf(before));
}

function lengthOf(value: Value | undefined): number {
  return isLongText(value) ? value.length : 0;
}
