// The last runs of a rule as its trace keeps them: a ring of numbers, so that a run costs a few stores in one place, and no memory.
// What few runs have, such as texts, mistakes and durations, lies beside it.

import type { Change } from '../../../model/parameter.ts';
import { cutText } from '../../../model/printable.ts';
import type { RuleOutcome, RuleRun } from '../../../model/reports/rule-status.ts';
import { toText, type Value } from '../../../model/value.ts';

/** Longer texts are kept in part. */
export const keptLength = 200;

/** Where the numbers of a run are. */
const revisionAt = 0;
const timeAt = 1;
const valueAt = 2;
const resultAt = 3;
/** The outcome and the kinds of both values in one number, since each number more is more memory to wait for. */
const kindsAt = 4;

const outcomes: readonly RuleOutcome[] = ['held', 'wrote', 'stopped', 'waited', 'failed'];
const [held, wrote, stopped, waited, failed] = [0, 1, 2, 3, 4];

/** The kinds of values: a number, a boolean as a number, or a text, which is among the details. */
const numberKind = 0;
const booleanKind = 1;
const textKind = 2;

/** The bits of the outcome, of the kind of the value, and of that of the result. */
const outcomeBits = 0b111;
const valueShift = 3;
const resultShift = 5;
const kindBits = 0b11;

/** What few runs have. */
interface Details {
  value?: Value;
  result?: Value;
  /** What each destination got, where they get values of their own; undefined at the place of one that got nothing. */
  results?: readonly (Value | undefined)[];
  error?: string;
  refused?: readonly string[];
  durationUs?: number;
}

/** A run is added, and then told more of until the next one is. Before the first, nothing is kept. */
export abstract class KeptRuns {
  #numbers = nowhere.numbers;
  /** Where the first run begins, and the newest. */
  #first = nowhere.first;
  #at = nowhere.first;
  #count = 0;
  /** The address that started the first run, and those of the others once they differ. */
  #source: string | undefined;
  #sources: (string | undefined)[] | undefined;
  /** By where the run begins. */
  #details: Map<number, Details> | undefined;

  /** The revision that started the newest run; 0: none did, or there is no run. */
  protected get revision(): number {
    return this.#count === 0 ? 0 : this.#numbers[this.#at + revisionAt]!;
  }

  /** Adds a run, from the 51st on in the place of the oldest. */
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

  /** The rule has ended: nobody reads its runs any more. */
  protected giveBack(): void {
    if (this.#numbers === nowhere.numbers) return;
    giveBackPlace({ numbers: this.#numbers, first: this.#first });
    this.#numbers = nowhere.numbers;
  }

  /** The condition of the newest run was false. */
  protected addStop(): void {
    if (this.#newest?.error === undefined) this.#setOutcome(stopped);
  }

  /** The newest run has given a value to the destinations. */
  protected addResult(value: Value): void {
    const numbers = this.#numbers;
    const kind = this.#kindOf(value, 'result');
    numbers[this.#at + resultAt] = kind === textKind ? 0 : +value;
    const valueKind = numbers[this.#at + kindsAt]! & (kindBits << valueShift);
    numbers[this.#at + kindsAt] = wrote | valueKind | (kind << resultShift);
  }

  /** The newest run has given each destination a value of its own. */
  protected addResults(values: readonly (Value | undefined)[]): void {
    this.#setOutcome(wrote);
    this.#detailsOfNewest().results = values.map((value) => value && cut(value));
  }

  /** The newest run failed, or one destination refused the value. */
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

  /** The run has no result, as something that it reads is unknown. */
  wait(message: string): void {
    if (this.#count === 0 || this.#outcomeAt(this.#at) !== held) return;
    this.#setOutcome(waited);
    this.limit(message);
  }

  /** A value of the run was dropped by a limit of a step; what was said of the run before stays. */
  limit(message: string): void {
    if (this.#count > 0) this.#detailsOfNewest().error ??= cutText(message, keptLength);
  }

  /** The runs for people, newest first; `to` are the destinations of their rule. */
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

  /** A rule that never runs needs no place. */
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

  /** The kind of a value; a text is kept among the details. */
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

/** The value itself, or the beginning of a long text. */
export function cut(value: Value): Value {
  return typeof value === 'string' ? cutText(value, keptLength) : value;
}

// Where the runs of rules are kept as numbers. Rules that run one after another, such as thousands on one source, have their runs
// side by side: a processor has to wait for memory when each of them lies somewhere else.

/** How many runs of each rule are kept. */
export const keptRuns = 50;
/** How many numbers a run has. */
const runWidth = 5;

/** How many rules share a block. It has memory for all of their runs, which the system gives once they run. */
const rulesPerBlock = 64;
/** How far two runs of a rule are from one another. */
const runDistance = rulesPerBlock * runWidth;

/** The numbers of a rule: those of its first run begin at `first`, those of each further run `runDistance` behind. */
interface RunPlace {
  readonly numbers: Float64Array;
  readonly first: number;
}

/** Takes what a rule says that has ended, which nobody reads. */
const nowhere: RunPlace = { numbers: createBlock(), first: 0 };

/** Of rules that have ended: never more than there were rules at the same time. */
const free: RunPlace[] = [];
let block = nowhere.numbers;
let taken = rulesPerBlock;

/** A place for the runs of a rule, of any hub of the process; thousands of tests share what the first of them has made. */
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
