// One run of a rule as its trace keeps it. It is filled in place, so that a run costs a few stores and no memory.

import type { Change } from '../../../model/parameter.ts';
import type { RuleOutcome, RuleRun } from '../../../model/rule-run.ts';
import { toText, type Value } from '../../../model/value.ts';

/** Longer texts are kept in part. */
export const keptLength = 200;

export class KeptRun {
  source: string | undefined = undefined;
  value: Value = 0;
  revision = 0;
  time = 0;
  outcome: RuleOutcome = 'held';
  result: Value = 0;
  /** What each destination got, where they get values of their own; undefined at the place of one that got nothing. */
  results: readonly (Value | undefined)[] | undefined = undefined;
  error: string | undefined = undefined;
  refused: readonly string[] | undefined = undefined;
  /** −1: not measured. */
  durationUs = -1;

  /** Begins another run in the place of the one that was kept. */
  begin(cause: Change | undefined, now: () => number): void {
    this.source = cause?.parameter.address;
    this.revision = cause?.revision ?? 0;
    this.time = cause?.time ?? now();
    if (cause !== undefined) this.value = cut(cause.value);
    this.outcome = 'held';
    this.results = undefined;
    this.error = undefined;
    this.refused = undefined;
    this.durationUs = -1;
  }

  /** The run for people; `to` are the destinations of its rule. */
  describe(to: readonly string[]): RuleRun {
    const { source, revision, time, outcome, results, refused, error, durationUs } = this;
    const isTaken = (index: number) => results === undefined || results[index] !== undefined;
    const hasWritten = outcome === 'wrote';
    return {
      source,
      value: source === undefined ? undefined : this.value,
      revision,
      time,
      outcome,
      result: hasWritten ? (results === undefined ? this.result : textOf(results)) : undefined,
      to: hasWritten ? to.filter((address, index) => isTaken(index) && !refused?.includes(address)) : [],
      error,
      durationUs: durationUs < 0 ? undefined : Math.round(durationUs),
    };
  }
}

function textOf(results: readonly (Value | undefined)[]): string {
  return results.flatMap((value) => (value === undefined ? [] : [toText(value)])).join(', ');
}

/** The value itself, or the beginning of a long text, copied so that it does not keep the whole. */
export function cut(value: Value): Value {
  return typeof value === 'string' ? cutText(value) : value;
}

/** The text itself, or the beginning of a long one, as `cut`. */
export function cutText(text: string): string {
  if (text.length <= keptLength) return text;
  return JSON.parse(JSON.stringify(`${text.slice(0, keptLength)}…`)) as string;
}
