// A parameter in the graph: a stream that replays its value if it has state, like a BehaviorSubject, and a stream without replay if it is a
// trigger, like a Subject. Both have the same fields, so the graph writes both in the same way. Only the graph writes them.
import type { Observable, Subscriber } from 'rxjs';
import type {
  About,
  Access,
  Change,
  DeviceState,
  Origin,
  Parameter,
  ParameterDeclaration,
  Remote,
} from '../model/parameter.ts';
import type { Value, ValueType } from '../model/value.ts';
import { Emitter, listen } from './emitter.ts';

export type ParameterNode = StateNode | TriggerNode;

/** A parameter with state. Hot, replays the present value (undefined: unknown), synchronous, never errors. */
export class StateNode extends Emitter<Value | undefined> implements Parameter {
  value: Value | undefined = undefined;
  readonly address: string;
  readonly type: ValueType;
  readonly access: Access;
  readonly owner: Origin;
  accept: ((input: unknown) => Value) | undefined;
  lastChange: Change | undefined = undefined;
  older: StateNode | undefined = undefined;
  newer: StateNode | undefined = undefined;
  /** The hub that owns it; undefined: this one. */
  remote: Remote | undefined = undefined;
  inbox: Emitter<Value> | undefined = undefined;
  channel: Parameter['channel'] = undefined;
  /** Emits writes that change nothing, once somebody has asked for them. */
  repeats: Emitter<Value> | undefined = undefined;
  readonly isConfirmed: boolean;
  wanted: Change | undefined = undefined;
  device: DeviceState | undefined = undefined;
  about: About | undefined;

  constructor(owner: Origin, address: string, declaration: ParameterDeclaration) {
    super(listenFromNow);
    this.isConfirmed = declaration.isConfirmed === true;
    this.about = declaration.about;
    this.address = address;
    this.type = declaration.type;
    this.access = declaration.access;
    this.owner = owner;
    this.accept = declaration.accept;
  }
}

/** A trigger. Hot, replays nothing, synchronous, never errors; emits 1 each time it fires. */
class TriggerNode extends Emitter<Value> implements Parameter {
  readonly value = undefined;
  readonly address: string;
  readonly type = 'T';
  readonly access: Access;
  readonly owner: Origin;
  readonly accept = undefined;
  lastChange: Change | undefined = undefined;
  /** The hub that owns it; undefined: this one. */
  remote: Remote | undefined = undefined;
  inbox: Emitter<Value> | undefined = undefined;
  channel: Parameter['channel'] = undefined;
  /** Emits writes that change nothing, once somebody has asked for them. */
  repeats: Emitter<Value> | undefined = undefined;
  readonly isConfirmed = false;
  readonly wanted = undefined;
  device: DeviceState | undefined = undefined;
  about: About | undefined;

  constructor(owner: Origin, address: string, declaration: ParameterDeclaration) {
    super();
    this.about = declaration.about;
    this.address = address;
    this.access = declaration.access;
    this.owner = owner;
  }
}

export function createNode(owner: Origin, address: string, declaration: ParameterDeclaration): ParameterNode {
  return declaration.type === 'T'
    ? new TriggerNode(owner, address, declaration)
    : new StateNode(owner, address, declaration);
}

/** Adds a subscriber, which receives the present value first. */
function listenFromNow(this: Observable<Value | undefined>, subscriber: Subscriber<Value | undefined>): () => void {
  const end = listen.call(this as Observable<unknown>, subscriber as Subscriber<unknown>);
  subscriber.next((this as StateNode).value);
  return end;
}

// The change that restores a value of an earlier run. Nobody is notified of it, so it causes nothing.

/** A value of an earlier run. */
export interface Restored {
  readonly value: unknown;
  /** When it was set, in milliseconds since 1970. */
  readonly time: number;
  /** Reads the original change and its causes; undefined: unknown. Called on each request, so that not all causes fill the memory. */
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

  constructor(parameter: StateNode, value: Value, origin: Origin, revision: number, { time, readCause }: Restored) {
    this.parameter = parameter;
    this.value = value;
    this.origin = origin;
    this.revision = revision;
    this.time = time;
    this.#readCause = readCause;
  }

  get cause(): Change | undefined {
    return this.#readCause();
  }

  get depth(): number {
    const { cause } = this;
    return cause === undefined ? 0 : cause.depth + 1;
  }
}
