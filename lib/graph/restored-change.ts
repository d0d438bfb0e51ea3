// The change that gives a parameter back what it had in an earlier run of the hub. Nobody is told of it, so it causes nothing.

import type { Change, Origin } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import type { StateNode } from './parameter-node.ts';

/** What an earlier run has left. */
export interface Restored {
  readonly value: unknown;
  /** When it was set, in milliseconds since 1970. */
  readonly time: number;
  /** Reads the change of then, with what had led to it; undefined: that is not known. Called once, and only when somebody asks. */
  readonly readCause: () => Change | undefined;
}

export class RestoredChange implements Change {
  readonly parameter: StateNode;
  readonly value: Value;
  readonly previous = undefined;
  readonly origin: Origin;
  readonly hop = 0;
  readonly revision: number;
  readonly time: number;
  readonly #readCause: () => Change | undefined;
  #cause: { readonly change: Change | undefined } | undefined;

  constructor(parameter: StateNode, value: Value, origin: Origin, revision: number, { time, readCause }: Restored) {
    this.parameter = parameter;
    this.value = value;
    this.origin = origin;
    this.revision = revision;
    this.time = time;
    this.#readCause = readCause;
  }

  get cause(): Change | undefined {
    this.#cause ??= { change: this.#readCause() };
    return this.#cause.change;
  }

  get depth(): number {
    return this.cause === undefined ? 0 : this.cause.depth + 1;
  }
}
