// Counts the bytes that steps hold. Each step has its own limit, and all steps together are subject to the hub's limit.

import { Observable, Subject, Subscription } from 'rxjs';
import { type Account, textBytes } from '../../model/held-bytes.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { Operator, StepRuntime } from './step.ts';

/** The maximum size of the values that a step may hold, in bytes. */
export const maxStepBytes = 16 * 1024 * 1024;
/** The message for a step that had to drop all its values. */
export const letGoMessage = 'the hub holds too much data, so the values that the step held were dropped';
/** The length, in characters, up to which a string in a step that holds only one value is not counted. */
const longText = 1024;

/** Returns the size of a value in bytes, without the object that contains it. */
export function valueBytes(value: Value): number {
  return typeof value === 'string' ? textBytes(value) : 8;
}

/** Counts the bytes of a step that remembers one value. Only long strings are counted. */
export class OneValue {
  readonly #account: Account;
  #isCounted = false;

  /** `forget` is called to drop the value when the hub holds too much data. */
  constructor({ open, overflow }: Pick<StepRuntime, 'open' | 'overflow'>, forget: () => void) {
    this.#account = open(() => {
      this.note(undefined);
      forget();
      overflow(letGoMessage);
    });
  }

  /** Records the value that the step remembers from now on; undefined means that the step remembers no value. */
  note(value: Value | undefined): void {
    const isLong = typeof value === 'string' && value.length > longText;
    if (!isLong && !this.#isCounted) return;
    this.#isCounted = isLong;
    this.#account.set(isLong ? textBytes(value) : 0);
  }
}

/**
 * Returns an operator that delays one value, with the value counted as held if it may be a string. With `keeps`, the operator still holds
 * the value after passing it on. When the hub holds too much data, the operator restarts and discards the value.
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
