// A parameter in the graph: a subject that keeps its value when it has state, a plain Subject when it is a trigger.
// Both carry the same fields, so that one way of writing serves both. Only the graph writes them or calls `next`.

import { Subject, type Subscriber, type Subscription } from 'rxjs';
import type { Access, Change, Origin, Parameter, ParameterDeclaration, Remote } from '../model/parameter.ts';
import type { Value, ValueType } from '../model/value.ts';
import { addObserver, type Observed } from './observers.ts';
import { ValueSubject } from './value-subject.ts';

export type ParameterNode = StateNode | TriggerNode;

/** A parameter with state. Hot, replays the present value (undefined: unknown), synchronous, never errors. */
export class StateNode extends ValueSubject<Value | undefined> implements Parameter {
  readonly address: string;
  readonly type: ValueType;
  readonly access: Access;
  readonly owner: Origin;
  accept: ((input: unknown) => Value) | undefined;
  lastChange: Change | undefined = undefined;
  older: StateNode | undefined = undefined;
  newer: StateNode | undefined = undefined;
  /** The hub that owns it; undefined: this one does. */
  remote: Remote | undefined = undefined;
  inbox: Subject<Value> | undefined = undefined;
  /** Tells of writes that change nothing, once somebody has asked for them. */
  repeats: Subject<Value> | undefined = undefined;

  constructor(owner: Origin, address: string, declaration: ParameterDeclaration) {
    super(undefined);
    this.address = address;
    this.type = declaration.type;
    this.access = declaration.access;
    this.owner = owner;
    this.accept = declaration.accept;
  }
}

/** A trigger. Hot, replays nothing, synchronous, never errors; emits 1 each time it fires. */
class TriggerNode extends Subject<Value> implements Parameter, Observed {
  only: Observed['only'] = undefined;
  readonly address: string;
  readonly type = 'T';
  readonly access: Access;
  readonly owner: Origin;
  readonly accept = undefined;
  readonly value = undefined;
  lastChange: Change | undefined = undefined;
  /** The hub that owns it; undefined: this one does. */
  remote: Remote | undefined = undefined;
  inbox: Subject<Value> | undefined = undefined;
  /** Tells of writes that change nothing, once somebody has asked for them. */
  repeats: Subject<Value> | undefined = undefined;

  constructor(owner: Origin, address: string, declaration: ParameterDeclaration) {
    super();
    this.address = address;
    this.access = declaration.access;
    this.owner = owner;
  }

  /** Overrides that of rxjs, as `ValueSubject` does. */
  _innerSubscribe(subscriber: Subscriber<unknown>): Subscription {
    return addObserver(this, subscriber);
  }
}

export function createNode(owner: Origin, address: string, declaration: ParameterDeclaration): ParameterNode {
  return declaration.type === 'T'
    ? new TriggerNode(owner, address, declaration)
    : new StateNode(owner, address, declaration);
}
