// One parameter of the replica, and its observers.

import type { About, Access } from '../../model/parameter.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { Emitter } from '../stream.ts';

/** The new value of a parameter; undefined if it has become unknown. A fire of a trigger is 1. */
export interface Change {
  readonly address: string;
  readonly value: Value | undefined;
}

/** Gathers changes of parameters and emits them as one batch. */
export interface Follower {
  readonly parameters: Map<string, ReplicaParameter>;
  /** Whether there is something to emit. */
  isTouched: boolean;
  changed(change: Change): void;
  removed(address: string): void;
  /** The parameter has become stale or fresh. */
  aged(parameter: ReplicaParameter): void;
  /** The pending write or its metadata has changed. */
  marked(parameter: ReplicaParameter): void;
  notify(): void;
}

/** The current state of a parameter; the object remains the same when the state changes. */
export interface ParameterView {
  readonly address: string;
  /** undefined: the hub has no such parameter, or has not sent its definition yet. */
  readonly type: ValueType | undefined;
  readonly access: Access | undefined;
  /** undefined: unknown, or a trigger. */
  readonly value: Value | undefined;
  readonly isKnown: boolean;
  /** When its hub became silent, in milliseconds since 1970 of this machine's clock; undefined if it is not silent. */
  readonly staleSince: number | undefined;
  /** The written value that the device has not confirmed yet; undefined if none is pending. */
  readonly wanted: Value | undefined;
  /** Label, unit, range, choices and more; undefined if there is none. */
  readonly about: About | undefined;
}

export class ReplicaParameter implements ParameterView {
  readonly address: string;
  type: ValueType | undefined;
  access: Access | undefined;
  value: Value | undefined;
  id: number | undefined;
  staleSince: number | undefined;
  wanted: Value | undefined;
  about: About | undefined;
  /**
   * The connection, counted from 1, in which it was last defined, reported as stale, pending, described, reported or complete.
   */
  definedIn = 0;
  staleIn = 0;
  wantedIn = 0;
  aboutIn = 0;
  reportedIn = 0;
  completeIn = 0;
  /** Whether its address has a subscriber. */
  isPooled = false;
  /** The queries that it matches. */
  followers: readonly Follower[] = [];
  /** Emits each new value, undefined when it becomes unknown, and 1 when a trigger fires. */
  watchers: Emitter<Value | undefined> | undefined;
  /** Emits when its staleness, pending write or metadata may have changed. */
  ages: Emitter<void> | undefined;
  /** Emits 1 when a trigger fires. */
  fires: Emitter<1> | undefined;

  constructor(address: string) {
    this.address = address;
  }

  get isKnown(): boolean {
    return this.value !== undefined;
  }
}
