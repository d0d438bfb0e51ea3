// The subject of a parameter with state. Only this file knows where a BehaviorSubject of rxjs keeps its value; its spec fails
// when rxjs keeps it elsewhere.

import { BehaviorSubject, type Subscriber, type Subscription } from 'rxjs';
import { addObserver, type Observed, startUnobserved } from './observers.ts';

interface Kept<T> {
  _value: T;
}

/** A BehaviorSubject that never completes and never errors, and so is read without a look at whether it has. */
export class ValueSubject<T> extends BehaviorSubject<T> implements Observed {
  only: Observed['only'] = undefined;

  constructor(value: T) {
    super(value);
    startUnobserved(this);
  }

  override get value(): T {
    return (this as unknown as Kept<T>)._value;
  }

  /** Nearly every parameter has no observer or one; the list that rxjs makes of them takes longer than telling it. */
  override next(value: T): void {
    const { only } = this;
    if (only === undefined && this.observers.length > 0) {
      super.next(value);
      return;
    }
    (this as unknown as Kept<T>)._value = value;
    only?.next(value);
  }

  /** Overrides that of rxjs, which its types do not tell of. */
  _innerSubscribe(subscriber: Subscriber<unknown>): Subscription {
    return addObserver(this, subscriber);
  }
}
