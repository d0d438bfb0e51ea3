// What steps hold is counted in bytes: a step has a bound of its own, and all of them together have that of the hub.

import { Observable, Subject, Subscription } from 'rxjs';
import { type Account, textBytes } from '../../model/held-bytes.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { Operator, StepRuntime } from './step.ts';

/** How much one step holds at most. */
export const maxStepBytes = 16 * 1024 * 1024;
/** What a step says when the hub has it let go of all. */
export const letGoMessage = 'the hub holds too much, so what the step held was dropped';
/** A shorter text costs next to nothing where a step holds one value. */
const longText = 1024;

/** What a value takes, beside what holds it. */
export function valueBytes(value: Value): number {
  return typeof value === 'string' ? textBytes(value) : 8;
}

/** The account of a step that remembers one value: only a long text counts. */
export class OneValue {
  readonly #account: Account;
  #isCounted = false;

  /** `forget` forgets the value. */
  constructor({ open, overflow }: Pick<StepRuntime, 'open' | 'overflow'>, forget: () => void) {
    this.#account = open(() => {
      this.note(undefined);
      forget();
      overflow(letGoMessage);
    });
  }

  /** The step remembers this value, in place of the one before; undefined: none. */
  note(value: Value | undefined): void {
    const isLong = typeof value === 'string' && value.length > longText;
    if (!isLong && !this.#isCounted) return;
    this.#isCounted = isLong;
    this.#account.set(isLong ? textBytes(value) : 0);
  }
}

/**
 * Counts the newest value as held by an operator that lets one wait, as long as texts may come; `keeps`: it holds the value also after it has
 * passed it on. When the hub holds too much, the operator starts anew, and forgets it.
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
