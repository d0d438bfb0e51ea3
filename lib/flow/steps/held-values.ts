// Counts the bytes that steps hold: each step has a separate limit, and all steps share the hub's limit.

import { Observable, Subject, Subscription } from 'rxjs';
import { type Account, textBytes } from '../../model/held-bytes.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { Operator, StepRuntime } from './step.ts';

/** The maximum number of bytes that a step may hold. */
export const maxStepBytes = 16 * 1024 * 1024;
/** The message for a step that had to drop everything. */
export const letGoMessage = 'the hub holds too much data, so the values that the step held were dropped';
/** The length below which a string is negligible in a step that holds one value. */
const longText = 1024;

/** Returns the size of a value without its container, in bytes. */
export function valueBytes(value: Value): number {
  return typeof value === 'string' ? textBytes(value) : 8;
}

/** The account of a step that remembers one value. Only long strings are counted. */
export class OneValue {
  readonly #account: Account;
  #isCounted = false;

  /** `forget` drops the value. */
  constructor({ open, overflow }: Pick<StepRuntime, 'open' | 'overflow'>, forget: () => void) {
    this.#account = open(() => {
      this.note(undefined);
      forget();
      overflow(letGoMessage);
    });
  }

  /** Records the value that the step now remembers instead of the previous value; undefined means that no value is remembered. */
  note(value: Value | undefined): void {
    const isLong = typeof value === 'string' && value.length > longText;
    if (!isLong && !this.#isCounted) return;
    this.#isCounted = isLong;
    this.#account.set(isLong ? textBytes(value) : 0);
  }
}

/**
 * Counts the latest value as held by an operator that delays one value, if the value may be a string. `keeps`: the operator still holds the
 * value after passing it on. When the hub holds too much, the operator restarts and discards the value.
 */
export function holdingOne(
  type: ValueType | undefined,
  operator: Operator,
  runtime: StepRuntime,
  keeps = false,
): Operator {
  if (type !== undefined && type !== 'S') return operator;
  return (source) =>
    new Observable((subscriber) => {
      let input = new Subject<Value>();
      const running = new Subscription();
      let inner = Subscription.EMPTY;
      const one = new OneValue(runtime, () => begin());
      const begin = () => {
        inner.unsubscribe();
        input = new Subject();
        inner = input.pipe(operator).subscribe({
          next(value) {
            if (!keeps) one.note(undefined);
            subscriber.next(value);
          },
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        });
      };
      begin();
      running.add(() => {
        inner.unsubscribe();
        one.note(undefined);
      });
      running.add(
        source.subscribe({
          next(value) {
            one.note(value);
            input.next(value);
          },
          error: (error) => input.error(error),
          complete: () => input.complete(),
        }),
      );
      return running;
    });
}
