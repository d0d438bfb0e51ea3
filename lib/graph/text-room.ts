// The memory for the long strings in all parameters together. A parameter keeps its value and the previous value, which `explain` shows.
// Therefore, a string counts twice, so that another string of the same length always fits. A writer may use at most as much memory as
// remains free for other writers, so that no writer can use up the memory alone.
import { groupDigits } from '../model/digits.ts';
import { HubError } from '../model/error.ts';
import type { Change } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import { writerOf } from '../model/writer.ts';
import type { ParameterNode } from './parameter-node.ts';

/** The length up to which strings are not counted, in characters, because each parameter may have such a string. */
const uncountedLength = 1024;
const shareOfHeap = 1 / 8;
const leastCharacters = 128 * 1024 * 1024;

/** Returns the maximum number of characters in all long strings together, given the maximum heap size in bytes. */
export function mostTextCharacters(heapBytes: number): number {
  return Math.max(leastCharacters, Math.floor(heapBytes * shareOfHeap));
}

/** Returns whether a value is a long string, whose characters are counted. */
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
  /** The number of characters in writes of the current turn that may not have been delivered yet. */
  #queued = 0;
  /** The number of the turn to which `#queued` belongs. */
  #turn = 0;
  /** true means that new strings are counted but never refused. */
  isOpen = false;

  /** Sets the maximum number of characters in all long strings together. */
  allow(most: number): void {
    this.#most = most;
  }

  get hasAny(): boolean {
    return this.#holdings.size > 0;
  }

  /** The number of characters in all long strings that are counted. */
  get characters(): number {
    return this.#total;
  }

  /**
   * Reserves memory for a long string that is about to be written, until another turn reserves memory. `turn` 0 means that the turn begins
   * with this write. Errors: `conflict`.
   */
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

  /**
   * Counts the long strings in a change before the change is stored. Parameters of other hubs are not counted, because the owning hub
   * limits their memory.
   */
  count(node: ParameterNode, change: Change): void {
    this.forget(node);
    const characters = lengthOfBoth(change.value, node.value);
    if (characters === 0 || node.remote !== undefined) return;
    const writer = writerOf(change);
    this.#holdings.set(node, { writer, characters });
    this.#byWriter.set(writer, (this.#byWriter.get(writer) ?? 0) + characters);
    this.#total += characters;
  }

  /** Stops counting the strings of a parameter that is removed or no longer contains a long string. */
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
    const most = `${groupDigits(Math.floor(this.#most / 2))} characters in all long texts together, of which each writer leaves half free`;
    const message = `${node.address}: expected at most ${most}, got ${groupDigits(text.length)} more`;
    return new HubError('conflict', message, { where: node.address });
  }
}

/** Returns the number of counted characters in a parameter's value and previous value. */
function lengthOfBoth(value: Value, before: Value | undefined): number {
  return lengthOf(value) + Math.max(lengthOf(value), lengthOf(before));
}

function lengthOf(value: Value | undefined): number {
  return isLongText(value) ? value.length : 0;
}
