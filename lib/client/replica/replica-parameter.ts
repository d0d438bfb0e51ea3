// One parameter of the replica, and its observers.

import type { About, Access } from '../../model/parameter.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { Emitter } from '../stream.ts';

/** The new value of a parameter: undefined if the value has become unknown, 1 for the firing of a trigger. */
export interface Change {
  readonly address: string;
  readonly value: Value | undefined;
}

/** Collects the changes to parameters, and emits them as one batch. */
export interface Follower {
  readonly parameters: Map<string, ReplicaParameter>;
  /** Whether there are changes to emit. */
  isTouched: boolean;
  changed(change: Change): void;
  removed(address: string): void;
  /** Called when a parameter has become stale or fresh. */
  aged(parameter: ReplicaParameter): void;
  /** Called when the pending write or the metadata of a parameter has changed. */
  marked(parameter: ReplicaParameter): void;
  notify(): void;
}

/** The current state of a parameter. The object remains the same when the state changes. */
export interface ParameterView {
  readonly address: string;
  /** The value type; undefined if the hub has no such parameter, or has not sent its definition yet. */
  readonly type: ValueType | undefined;
  readonly access: Access | undefined;
  /** The value; undefined if the value is unknown or the parameter is a trigger. */
  readonly value: Value | undefined;
  readonly isKnown: boolean;
  /**
   * The time at which the hub of the parameter became silent or its device went offline, in milliseconds since 1970 on this machine's
   * clock; undefined while the parameter is fresh.
   */
  readonly staleSince: number | undefined;
  /** The value that was written but that the device has not confirmed yet; undefined if there is none. */
  readonly wanted: Value | undefined;
  /** The metadata: label, unit, range, choices and more; undefined if there is none. */
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
   * The number of the connection, counted from 1, in which the parameter was last defined. The following fields contain the number of the
   * connection in which it was last reported as stale, its pending write was reported, it was described, its value was reported, and it was
   * complete.
   */
  definedIn = 0;
  staleIn = 0;
  wantedIn = 0;
  aboutIn = 0;
  reportedIn = 0;
  completeIn = 0;
  /** Whether the address of the parameter has a subscriber. */
  isPooled = false;
  /** The queries that match the parameter. */
  followers: readonly Follower[] = [];
  /** Emits each new value, undefined when the value becomes unknown, and 1 when a trigger fires. */
  watchers: Emitter<Value | undefined> | undefined;
  /** Emits when the staleness, the pending write or the metadata of the parameter may have changed. */
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
