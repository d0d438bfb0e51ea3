// One parameter of the replica, and who follows it.

import type { Access } from '../../model/parameter.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { Emitter } from '../stream.ts';

/** A parameter has this value now; undefined: it has none any more. A fire of a trigger is 1. */
export interface Change {
  readonly address: string;
  readonly value: Value | undefined;
}

/** Gathers what happens to parameters, and tells it as one batch. */
export interface Follower {
  readonly parameters: Map<string, ReplicaParameter>;
  /** Whether there is something to tell. */
  isTouched: boolean;
  changed(change: Change): void;
  removed(address: string): void;
  /** It has become stale, or is fresh again. */
  aged(parameter: ReplicaParameter): void;
  notify(): void;
}

/** A parameter as it is now; the object stays the same while it changes. */
export interface ParameterView {
  readonly address: string;
  /** undefined: the hub has no such parameter, or has not said so yet. */
  readonly type: ValueType | undefined;
  readonly access: Access | undefined;
  /** undefined: unknown, or a trigger. */
  readonly value: Value | undefined;
  readonly isKnown: boolean;
  /** Since when nothing is heard of the hub that owns it, in milliseconds since 1970 of this machine's clock; undefined: it is. */
  readonly staleSince: number | undefined;
}

export class ReplicaParameter implements ParameterView {
  readonly address: string;
  type: ValueType | undefined;
  access: Access | undefined;
  value: Value | undefined;
  id: number | undefined;
  staleSince: number | undefined;
  /** The connections, counted from 1, in which it was last defined, told, told to be stale, and complete. */
  definedIn = 0;
  staleIn = 0;
  reportedIn = 0;
  completeIn = 0;
  /** Whether it is subscribed to by its address. */
  isPooled = false;
  /** The queries that it matches. */
  followers: readonly Follower[] = [];
  /** Told each new value, undefined when there is none any more, and 1 when a trigger fires. */
  watchers: Emitter<Value | undefined> | undefined;
  /** Told when it may be stale otherwise than before. */
  ages: Emitter<void> | undefined;
  /** Told 1 when a trigger fires. */
  fires: Emitter<1> | undefined;

  constructor(address: string) {
    this.address = address;
  }

  get isKnown(): boolean {
    return this.value !== undefined;
  }
}
