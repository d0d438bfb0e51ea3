// Encodes turns as JSON. A turn is encoded as a whole when it ends, which is faster than encoding each change. A turn ends with the first
// change in another turn or when all changes are taken.

import type { Change, Origin } from '../../../model/parameter.ts';
import { encodeLinks, encodeOrigin, type WireLinks } from '../wire/causes.ts';
import { isTooLong, maxMessageBytes, maxStep, messageBytes, sizeOf } from '../wire/domain-messages.ts';

/** Whole turns in encoded form; undefined if they are too long to be sent. */
export interface Written {
  readonly turns: string | undefined;
  readonly rev: number;
}

/** The context of a change. `why` is the index of the cause in the turn, or a list of earlier changes. */
interface ChangeContext {
  readonly why?: number | WireLinks;
}

/** The minimum length of an encoded change, as in `7,1,`. */
const shortest = 4;

export class TurnWriter {
  #turns = '';
  /** The changes in this turn, each as a number and a value, and contexts in between. */
  #turn: unknown[] = [];
  /** The minimum length of the encoded turn, in characters. */
  #turnLength = 0;
  #turnNumber = -1;
  /** The revisions of the changes in this turn, in ascending order. */
  #revisions: number[] = [];
  #isTooLong = false;
  #origin: Origin | undefined = undefined;
  #time = -1;
  /** The revision of the last change that was added. */
  #rev = 0;

  get isEmpty(): boolean {
    return this.#turns === '' && this.#turn.length === 0 && !this.#isTooLong;
  }

  /** Adds a change. Returns the earlier turns if they fill a message. */
  add(number: number, change: Change, turnNumber: number): Written | undefined {
    let written: Written | undefined;
    if (turnNumber !== this.#turnNumber) {
      this.#endTurn();
      if (this.#turns.length >= messageBytes || this.#isTooLong) written = this.take();
      this.#turnNumber = turnNumber;
    }
    this.#rev = change.revision;
    if (this.#isTooLong) return written;
    if (change.origin !== this.#origin || change.time !== this.#time || change.hop > 0 || change.cause !== undefined)
      this.#addContext(this.#contextOf(change));
    const { value } = change;
    this.#turn.push(number, value);
    this.#turnLength += typeof value === 'string' ? value.length + shortest : shortest;
    this.#revisions.push(change.revision);
    if (this.#turnLength > maxMessageBytes || sizeOf(this.#turn) > maxStep) this.#giveUp();
    return written;
  }

  /** Adds a structural change, such as `{"withdrawn":[7]}`. */
  addStructure(text: string, revision: number): void {
    this.#endTurn();
    this.#append(text);
    this.#rev = revision;
    this.#origin = undefined; // the values in the structural change contain their writer and time
    this.#time = -1;
  }

  /** Takes all changes that have been added. Must be called between turns. */
  take(): Written {
    this.#endTurn();
    const turns = this.#isTooLong || isTooLong(this.#turns) ? undefined : this.#turns;
    const written = { turns, rev: this.#rev };
    this.#turns = '';
    this.#isTooLong = false;
    this.#origin = undefined;
    this.#time = -1;
    return written;
  }

  #addContext(context: ChangeContext): void {
    this.#turn.push(context);
    if (typeof context.why === 'object') this.#turnLength += JSON.stringify(context).length;
  }

  #endTurn(): void {
    this.#turnNumber = -1;
    if (this.#turn.length === 0) return;
    this.#append(JSON.stringify(this.#turn));
    this.#startTurn();
  }

  #append(text: string): void {
    if (this.#isTooLong) return;
    this.#turns = this.#turns === '' ? text : `${this.#turns},${text}`;
    if (this.#turns.length > maxMessageBytes) this.#giveUp();
  }

  #giveUp(): void {
    this.#isTooLong = true;
    this.#turns = '';
    this.#startTurn();
  }

  #startTurn(): void {
    this.#turn = [];
    this.#turnLength = 0;
    this.#revisions = [];
  }

  #contextOf({ origin, time, hop, cause }: Change): ChangeContext {
    const isSameOrigin = origin === this.#origin;
    const isSameTime = time === this.#time;
    this.#origin = origin;
    this.#time = time;
    return {
      ...(!isSameOrigin && { by: encodeOrigin(origin) }),
      ...(!isSameTime && { at: time }),
      ...(cause !== undefined && { why: this.#placeOf(cause) ?? encodeLinks(cause) }),
      ...(hop > 0 && { hop }),
    };
  }

  /** Returns the index of a change in this turn, or undefined if the change belongs to another turn. */
  #placeOf({ revision }: Change): number | undefined {
    let [low, high] = [0, this.#revisions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#revisions[middle]! < revision) low = middle + 1;
      else high = middle;
    }
    return revision > 0 && this.#revisions[low] === revision ? low : undefined;
  }
}
