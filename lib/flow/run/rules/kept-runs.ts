// The most recent runs of a rule, kept for its trace in a ring of numbers, so that a run costs only a few stores in one place and no
// allocation. Rare parts, such as strings, errors and durations, are kept separately.

import type { Change } from '../../../model/parameter.ts';
import { cutText } from '../../../model/printable.ts';
import type { RuleOutcome, RuleRun } from '../../../model/reports/rule-status.ts';
import { toText, type Value } from '../../../model/value.ts';

/** The maximum length of a kept string, in characters; longer strings are truncated. */
export const keptLength = 200;

/** The positions of a run's numbers within the run: revision, time, value and result. */
const revisionAt = 0;
const timeAt = 1;
const valueAt = 2;
const resultAt = 3;
/**
 * The position of the number that combines the outcome and the kinds of both values, because each additional number costs another memory
 * access.
 */
const kindsAt = 4;

const outcomes: readonly RuleOutcome[] = ['held', 'wrote', 'stopped', 'waited', 'failed'];
const [held, wrote, stopped, waited, failed] = [0, 1, 2, 3, 4];

/** The kinds of values: a number, a boolean stored as a number, or a string stored in the details. */
const numberKind = 0;
const booleanKind = 1;
const textKind = 2;

/** The layout of the combined number: the bits for the outcome, then the kind of the value, then the kind of the result. */
const outcomeBits = 0b111;
const valueShift = 3;
const resultShift = 5;
const kindBits = 0b11;

/** The parts that only few runs have, stored outside the ring. */
interface Details {
  value?: Value;
  result?: Value;
  /** The values for the destinations, if each destination has its own value; undefined for a destination that received no value. */
  results?: readonly (Value | undefined)[];
  error?: string;
  refused?: readonly string[];
  durationUs?: number;
}

/**
 * Keeps the most recent runs of a rule. A run is added, and can be completed until the next run is added. Calls before the first run have
 * no effect.
 */
export abstract class KeptRuns {
  #numbers = nowhere.numbers;
  /** The position of the first run's numbers. */
  #first = nowhere.first;
  /** The position of the latest run's numbers. */
  #at = nowhere.first;
  #count = 0;
  /** The address that started the first run. */
  #source: string | undefined;
  /** The addresses that started the runs, set as soon as two addresses differ. */
  #sources: (string | undefined)[] | undefined;
  /** The details of runs, keyed by the position of the run's numbers. */
  #details: Map<number, Details> | undefined;

  /** The revision that started the latest run. 0 if no revision started the run, or if there is no run. */
  protected get revision(): number {
    return this.#count === 0 ? 0 : this.#numbers[this.#at + revisionAt]!;
  }

  /** Adds a run. From the 51st run on, the new run replaces the oldest run. */
  protected add(cause: Change | undefined, now: () => number): void {
    if (this.#count === 0) this.#begin();
    const place = this.#count % keptRuns;
    const at = this.#first + place * runDistance;
    this.#at = at;
    this.#details?.delete(at);
    const { value = 0, revision = 0, time = now() } = cause ?? {};
    const kind = this.#kindOf(value, 'value');
    const number = kind === textKind ? 0 : +value;
    const kinds = held | (kind << valueShift);
    const numbers = this.#numbers;
    numbers[at + revisionAt] = revision;
    numbers[at + timeAt] = time;
    numbers[at + valueAt] = number;
    numbers[at + kindsAt] = kinds;
    this.#setSource(place, cause?.parameter.address);
    this.#count++;
  }

  /** Frees the memory for the runs, after the rule has ended. */
  protected giveBack(): void {
    if (this.#numbers === nowhere.numbers) return;
    giveBackPlace({ numbers: this.#numbers, first: this.#first });
    this.#numbers = nowhere.numbers;
  }

  /** Records that the condition of the latest run was false. */
  protected addStop(): void {
    if (this.#newest?.error === undefined) this.#setOutcome(stopped);
  }

  /** Records the value that the latest run wrote to the destinations. */
  protected addResult(value: Value): void {
    const numbers = this.#numbers;
    const kind = this.#kindOf(value, 'result');
    numbers[this.#at + resultAt] = kind === textKind ? 0 : +value;
    const valueKind = numbers[this.#at + kindsAt]! & (kindBits << valueShift);
    numbers[this.#at + kindsAt] = wrote | valueKind | (kind << resultShift);
  }

  /** Records the values that the latest run wrote, one per destination. */
  protected addResults(values: readonly (Value | undefined)[]): void {
    this.#setOutcome(wrote);
    this.#detailsOfNewest().results = values.map((value) => value && cut(value));
  }

  /** Records that the latest run failed, or that the given destination refused the value. */
  protected addFailure(message: string, destination: string | undefined): void {
    if (this.#count === 0) return;
    this.limit(message);
    const details = this.#detailsOfNewest();
    if (destination === undefined) this.#setOutcome(failed);
    else details.refused = [...(details.refused ?? []), destination];
  }

  protected addDuration(durationUs: number): void {
    if (this.#count > 0) this.#detailsOfNewest().durationUs = durationUs;
  }

  /** Records that the latest run has no result because the rule reads an unknown value. */
  wait(message: string): void {
    if (this.#count === 0 || this.#outcomeAt(this.#at) !== held) return;
    this.#setOutcome(waited);
    this.limit(message);
  }

  /** Records that a step dropped a value in the latest run. An earlier message for the run is kept. */
  limit(message: string): void {
    if (this.#count > 0) this.#detailsOfNewest().error ??= cutText(message, keptLength);
  }

  /** Returns the kept runs in a form suitable for display, latest first. `to` contains the rule's destinations. */
  protected describe(to: readonly string[]): RuleRun[] {
    const length = Math.min(this.#count, keptRuns);
    return Array.from({ length }, (_, before) => this.#describe((this.#count - 1 - before) % keptRuns, to));
  }

  #describe(place: number, to: readonly string[]): RuleRun {
    const at = this.#first + place * runDistance;
    const numberAt = (within: number) => this.#numbers[at + within]!;
    const kinds = numberAt(kindsAt);
    const [valueKind, resultKind] = [(kinds >> valueShift) & kindBits, (kinds >> resultShift) & kindBits];
    const outcome = kinds & outcomeBits;
    const details = this.#details?.get(at) ?? {};
    const { results, refused, error, durationUs } = details;
    const source = this.#sources === undefined ? this.#source : this.#sources[place];
    const isTaken = (index: number) => results === undefined || results[index] !== undefined;
    const hasWritten = outcome === wrote;
    const resultOf = () =>
      results === undefined ? read(resultKind, numberAt(resultAt), details.result) : textOf(results);
    return {
      source,
      value: source === undefined ? undefined : read(valueKind, numberAt(valueAt), details.value),
      revision: numberAt(revisionAt),
      time: numberAt(timeAt),
      outcome: outcomes[outcome]!,
      result: hasWritten ? resultOf() : undefined,
      to: hasWritten ? to.filter((address, index) => isTaken(index) && !refused?.includes(address)) : [],
      error,
      durationUs: durationUs && Math.round(durationUs),
    };
  }

  /** Allocates memory on the first run, so that a rule that never runs needs no memory. */
  #begin(): void {
    const { numbers, first } = takePlace();
    this.#numbers = numbers;
    this.#first = first;
  }

  #outcomeAt(at: number): number {
    return this.#numbers[at + kindsAt]! & outcomeBits;
  }

  #setOutcome(outcome: number): void {
    const at = this.#at + kindsAt;
    this.#numbers[at] = (this.#numbers[at]! & ~outcomeBits) | outcome;
  }

  /** Returns the kind of a value. A string is stored in the run's details. */
  #kindOf(value: Value, part: 'value' | 'result'): number {
    if (typeof value === 'number') return numberKind;
    if (typeof value === 'boolean') return booleanKind;
    this.#detailsOfNewest()[part] = cut(value);
    return textKind;
  }

  #setSource(place: number, source: string | undefined): void {
    if (this.#count === 0) this.#source = source;
    if (this.#sources === undefined) {
      if (source === this.#source) return;
      this.#sources = new Array(Math.min(this.#count, keptRuns)).fill(this.#source);
    }
    this.#sources[place] = source;
  }

  get #newest(): Details | undefined {
    return this.#details?.get(this.#at);
  }

  #detailsOfNewest(): Details {
    this.#details ??= new Map();
    const known = this.#details.get(this.#at) ?? {};
    this.#details.set(this.#at, known);
    return known;
  }
}

function read(kind: number, number: number, text: Value | undefined): Value | undefined {
  if (kind === textKind) return text;
  return kind === booleanKind ? number === 1 : number;
}

function textOf(results: readonly (Value | undefined)[]): string {
  return results.flatMap((value) => (value === undefined ? [] : [toText(value)])).join(', ');
}

/** Returns the value, truncated to `keptLength` if it is a longer string. */
export function cut(value: Value): Value {
  return typeof value === 'string' ? cutText(value, keptLength) : value;
}

// The memory for the runs of rules. The runs of rules that run one after another, such as thousands with the same source, are adjacent in
// memory, because a processor would wait for memory if these runs were scattered.

/** The number of runs that are kept per rule. */
export const keptRuns = 50;
/** How many numbers are stored per run. */
const runWidth = 5;

/** The number of rules that share a block of memory. The operating system provides the block's memory gradually, as the rules run. */
const rulesPerBlock = 64;
/** The distance between the numbers of two successive runs of a rule. */
const runDistance = rulesPerBlock * runWidth;

/**
 * Where the runs of one rule are stored: the numbers of the first run begin at `first`, and those of each further run `runDistance` later.
 */
interface RunPlace {
  readonly numbers: Float64Array;
  readonly first: number;
}

/** Receives the runs of ended rules. The contents are never read. */
const nowhere: RunPlace = { numbers: createBlock(), first: 0 };

/** The slots of ended rules, which new rules reuse. Their number never exceeds the highest number of rules at one time. */
const free: RunPlace[] = [];
let block = nowhere.numbers;
let taken = rulesPerBlock;

/**
 * Takes a slot for the runs of a rule. The slots are shared by all hubs in the process, so that thousands of tests reuse the slots of the
 * first test.
 */
function takePlace(): RunPlace {
  const known = free.pop();
  if (known !== undefined) return known;
  if (taken === rulesPerBlock) {
    block = createBlock();
    taken = 0;
  }
  return { numbers: block, first: runWidth * taken++ };
}

function giveBackPlace(place: RunPlace): void {
  free.push(place);
}

function createBlock(): Float64Array {
  return new Float64Array(keptRuns * runDistance);
}
