// What the selections of one request share: the parameters that match, kept up to date, and one batch per message of the hub for all
// that observe it.

import type { Change, Follower, ParameterView, ReplicaParameter } from '../replica/replica-parameter.ts';
import type { Matcher } from '../replica/replica-pattern.ts';
import { Emitter, type Observer } from '../stream.ts';

/** What one message of the hub has changed, in order of the lists: take in `removed` first. */
export interface Batch {
  /** Addresses of parameters that are no more; no change says so. One that is also in `defined` has another parameter now. */
  readonly removed: readonly string[];
  /** Parameters that are new, or of another type or access now. */
  readonly defined: readonly ParameterView[];
  readonly changes: readonly Change[];
  /** Addresses of which nothing is heard any more of the hub that owns them, and of which it is again. */
  readonly stale: readonly string[];
  readonly fresh: readonly string[];
  /** Whether everything that matches has been told. */
  readonly isComplete: boolean;
}

const none: readonly string[] = [];

export class LiveQuery implements Follower {
  readonly matches: Matcher;
  readonly parameters = new Map<string, ReplicaParameter>();
  readonly #batches = new Emitter<Batch>();
  isTouched = false;
  #isComplete = false;
  /** What one message has changed. */
  #removed: string[] = [];
  #defined = new Map<string, ReplicaParameter>();
  #changes: Change[] = [];
  /** Whether each is stale by now. */
  #aged = new Map<string, boolean>();

  constructor(matches: Matcher) {
    this.matches = matches;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  get isObserved(): boolean {
    return this.#batches.isObserved;
  }

  /** Adds an observer, who is first told what there is; the function that it returns takes it out. */
  observe(observer: Observer<Batch>): () => void {
    const defined = [...this.parameters.values()];
    if (defined.length === 0 && !this.#isComplete) return this.#batches.add(observer);
    const changes = defined.filter(({ isKnown }) => isKnown).map(({ address, value }) => ({ address, value }));
    const stale = defined.filter(({ staleSince }) => staleSince !== undefined).map(({ address }) => address);
    return this.#batches.add(observer, {
      removed: [],
      defined,
      changes,
      stale,
      fresh: [],
      isComplete: this.#isComplete,
    });
  }

  defined(parameter: ReplicaParameter): void {
    this.#defined.set(parameter.address, parameter);
  }

  changed(change: Change): void {
    this.#changes.push(change);
  }

  removed(address: string): void {
    this.#removed.push(address);
    this.#defined.delete(address);
  }

  aged({ address, staleSince }: ReplicaParameter): void {
    this.#aged.set(address, staleSince !== undefined);
  }

  /** All that matches has come; to be told. */
  complete(): void {
    this.#isComplete = true;
  }

  /** Tells what has gathered. */
  notify(): void {
    const batch = {
      removed: this.#removed,
      defined: [...this.#defined.values()],
      changes: this.#changes,
      stale: this.#agedTo(true),
      fresh: this.#agedTo(false),
      isComplete: this.#isComplete,
    };
    this.isTouched = false;
    this.#removed = [];
    if (this.#defined.size > 0) this.#defined = new Map();
    this.#changes = [];
    if (this.#aged.size > 0) this.#aged = new Map();
    this.#batches.next(batch);
  }

  #agedTo(isStale: boolean): readonly string[] {
    return this.#aged.size === 0
      ? none
      : [...this.#aged].filter(([, is]) => is === isStale).map(([address]) => address);
  }

  fail(error: Error): void {
    this.#batches.error(error);
  }

  close(): void {
    this.#batches.complete();
  }
}
