// A parameter in the graph. A parameter with state is a stream that replays its value, like a BehaviorSubject; a trigger is a stream
// without replay, like a Subject. Both have the same fields, so that the graph writes both in the same way. Only the graph writes these
// fields.
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

/** Rare properties of a parameter, in a separate object, so that the hundred thousand other parameters need no memory for them. */
interface Extras {
  remote?: Remote | undefined;
  repeats?: Emitter<Value> | undefined;
  isConfirmed?: boolean;
  wanted?: Change | undefined;
  device?: DeviceState | undefined;
  about?: About | undefined;
}

abstract class Node<T> extends Emitter<T> {
  readonly address: string;
  access: Access;
  readonly owner: Origin;
  lastChange: Change | undefined = undefined;
  inbox: Emitter<Value> | undefined = undefined;
  channel: Parameter['channel'] = undefined;
  #extras: Extras | undefined = undefined;

  constructor(
    owner: Origin,
    address: string,
    { type, access, about, isConfirmed }: ParameterDeclaration,
    subscribe?: ConstructorParameters<typeof Emitter<T>>[0],
  ) {
    super(subscribe);
    this.address = address;
    this.access = access;
    this.owner = owner;
    this.about = about;
    if (isConfirmed === true && type !== 'T') this.#own.isConfirmed = true;
  }

  /** The hub that owns the parameter; undefined means this hub. */
  get remote(): Remote | undefined {
    return this.#extras?.remote;
  }

  set remote(remote: Remote | undefined) {
    if (remote !== this.remote) this.#own.remote = remote;
  }

  /** Emits writes that change nothing. Undefined until such writes are first requested. */
  get repeats(): Emitter<Value> | undefined {
    return this.#extras?.repeats;
  }

  set repeats(repeats: Emitter<Value> | undefined) {
    this.#own.repeats = repeats;
  }

  get isConfirmed(): boolean {
    return this.#extras !== undefined && this.#extras.isConfirmed === true;
  }

  get wanted(): Change | undefined {
    return this.#extras?.wanted;
  }

  set wanted(wanted: Change | undefined) {
    if (wanted !== this.wanted) this.#own.wanted = wanted;
  }

  get device(): DeviceState | undefined {
    return this.#extras?.device;
  }

  set device(device: DeviceState | undefined) {
    if (device !== this.device) this.#own.device = device;
  }

  get about(): About | undefined {
    return this.#extras?.about;
  }

  set about(about: About | undefined) {
    if (about !== this.about) this.#own.about = about;
  }

  get #own(): Extras {
    this.#extras ??= {};
    return this.#extras;
  }
}

/** A parameter with state in the graph. Hot, replays the current value (undefined: unknown), synchronous, never errors. */
export class StateNode extends Node<Value | undefined> implements Parameter {
  readonly type: ValueType;
  value: Value | undefined = undefined;
  accept: ((input: unknown) => Value) | undefined;
  older: StateNode | undefined = undefined;
  newer: StateNode | undefined = undefined;

  constructor(owner: Origin, address: string, declaration: ParameterDeclaration) {
    super(owner, address, declaration, listenFromNow);
    this.type = declaration.type;
    this.accept = declaration.accept;
  }
}

/** A trigger in the graph. Hot, replays nothing, synchronous, never errors; emits 1 each time it fires. */
class TriggerNode extends Node<Value> implements Parameter {
  readonly type = 'T';
  readonly value = undefined;
  readonly accept = undefined;
}

export function createNode(owner: Origin, address: string, declaration: ParameterDeclaration): ParameterNode {
  return declaration.type === 'T'
    ? new TriggerNode(owner, address, declaration)
    : new StateNode(owner, address, declaration);
}

/** Adds a subscriber to a parameter with state. The subscriber first receives the current value. */
function listenFromNow(this: Observable<Value | undefined>, subscriber: Subscriber<Value | undefined>): () => void {
  const end = listen.call(this as Observable<unknown>, subscriber as Subscriber<unknown>);
  subscriber.next((this as StateNode).value);
  return end;
}

// The change that restores a value from an earlier run. It notifies no observers and thus causes no changes.

/** A value from an earlier run of the hub. */
export interface Restored {
  readonly value: unknown;
  /** When the value was set, in milliseconds since 1970. */
  readonly time: number;
  /**
   * Reads the original change and its causes; returns undefined if the original change is unknown. The change is read on each request,
   * because the causes of all values would fill the memory.
   */
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
