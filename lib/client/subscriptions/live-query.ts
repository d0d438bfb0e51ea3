// What selections with equal requests share: the matching parameters, which are kept up to date, and one batch per message from the hub for
// all observers.

import type { Change, Follower, ParameterView, ReplicaParameter } from '../replica/replica-parameter.ts';
import type { Matcher } from '../replica/replica-pattern.ts';
import { Emitter, type Observer } from '../stream.ts';

/** The changes that one message from the hub makes to a selection. Apply the lists in order, starting with `removed`. */
export interface Batch {
  /**
   * The addresses of removed parameters, which are not in `changes`. If an address is also in `defined`, it now belongs to a new parameter.
   */
  readonly removed: readonly string[];
  /** The parameters that are new, or whose type or access has changed. */
  readonly defined: readonly ParameterView[];
  readonly changes: readonly Change[];
  /**
   * The addresses of parameters that have become stale, because their hub or device is silent, and of parameters that have become fresh
   * again.
   */
  readonly stale: readonly string[];
  readonly fresh: readonly string[];
  /** The addresses of parameters whose `wanted` or `about` has changed. */
  readonly marked: readonly string[];
  /** Whether all matching parameters have arrived. */
  readonly isComplete: boolean;
}

const none: readonly string[] = [];

export class LiveQuery implements Follower {
  readonly matches: Matcher;
  readonly parameters = new Map<string, ReplicaParameter>();
  readonly #batches = new Emitter<Batch>();
  isTouched = false;
  #isComplete = false;
  /** The changes in the current message, until `notify` emits them as a batch. */
  #removed: string[] = [];
  #defined = new Map<string, ReplicaParameter>();
  #changes: Change[] = [];
  /** Whether the parameter at each address has become stale (true) or fresh (false) in the current message. */
  #aged = new Map<string, boolean>();
  #marked = new Set<string>();

  constructor(matches: Matcher) {
    this.matches = matches;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  get isObserved(): boolean {
    return this.#batches.isObserved;
  }

  /** Adds an observer and emits the current state to it as a batch. Returns a function that removes the observer. */
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
      marked: defined.filter(({ wanted, about }) => (wanted ?? about) !== undefined).map(({ address }) => address),
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

  marked({ address }: ReplicaParameter): void {
    this.#marked.add(address);
  }

  /** Notes that all matching parameters have arrived. The caller then emits the batch. */
  complete(): void {
    this.#isComplete = true;
  }

  /** Emits the collected changes as one batch. */
  notify(): void {
    const batch = {
      removed: this.#removed,
      defined: [...this.#defined.values()],
      changes: this.#changes,
      stale: this.#agedTo(true),
      fresh: this.#agedTo(false),
      marked: this.#marked.size === 0 ? none : [...this.#marked],
      isComplete: this.#isComplete,
    };
    this.isTouched = false;
    this.#removed = [];
    if (this.#defined.size > 0) this.#defined = new Map();
    this.#changes = [];
    if (this.#aged.size > 0) this.#aged = new Map();
    if (this.#marked.size > 0) this.#marked = new Set();
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
