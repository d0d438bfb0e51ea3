// The streams that TypeScript rules use. Streams are created while their file is checked, and connected to the sources of their rule when
// the rule runs. Each stream knows its addresses from the start.

import { Observable, type Subscriber, type Subscription } from 'rxjs';
import { nearestName } from '../json5/nearest-name.ts';
import { describe } from '../model/error.ts';
import type { Value, ValueType } from '../model/value.ts';
import type { On, StreamOptions } from './define-flow.ts';
import type { NamedValues, Sources } from './plan.ts';
import { runInFlow } from './programs/flow-code.ts';

/** A parameter requested by a flow file. `type` is the type that the author expects; undefined means that any type is accepted. */
export interface AskedParameter {
  readonly address: string;
  readonly type: ValueType | undefined;
  /** The error stack of the request, which leads to the author's code. */
  readonly stack: string;
  readonly listensToWrites: boolean;
}

/** Creates the streams that one flow file requests, and connects them to the sources of the file's rules. */
export class Streams {
  readonly on: On;
  /** The parameters that the file has requested, one item per request. */
  readonly asked: AskedParameter[] = [];
  readonly #flow: string;
  readonly #addressesOf = new WeakMap<Observable<unknown>, readonly string[]>();
  #addresses: readonly string[] = [];
  #sources: Sources | undefined;

  /** `flow` is the name of the flow file. Work that the streams start, such as a timer, is attributed to this name. */
  constructor(flow: string) {
    this.#flow = flow;
    const one =
      <T extends Value>(type: ValueType) =>
      (address: string, options?: StreamOptions): Observable<T> => {
        const listensToWrites = listensTo(options);
        return this.#create([address], type, listensToWrites, (sources, emit) =>
          sources.any([address], { next: (value) => emit(value as T) }, listensToWrites),
        );
      };
    this.on = onlyThese({
      text: one('S'),
      flag: one('B'),
      integer: one('I'),
      float: one('F'),
      trigger: one('T'),
      all: (names, options) => {
        const listensToWrites = listensTo(options);
        return this.#create(Object.values(names), undefined, listensToWrites, (sources, emit) => {
          const next = (values: NamedValues, isComplete: boolean) => {
            if (isComplete) emit(values as never);
          };
          return sources.named(names, next, listensToWrites);
        });
      },
      peek: (address) => this.#peek(address) as never,
    });
  }

  /**
   * Returns the addresses from which a stream is derived. For a stream that joins several streams, these are all addresses that its file
   * has requested.
   */
  addressesOf(stream: Observable<unknown>): readonly string[] {
    for (let at: Observable<unknown> | undefined = stream; at !== undefined; at = at.source) {
      const addresses = this.#addressesOf.get(at);
      if (addresses !== undefined) return addresses;
    }
    return this.addresses;
  }

  /** All addresses that the file has requested, in one list that all its rules share. */
  get addresses(): readonly string[] {
    if (this.#addresses.length !== this.asked.length) this.#addresses = this.asked.map(({ address }) => address);
    return this.#addresses;
  }

  /** Returns a stream with the same values. Work that the stream starts after the subscription is attributed to the flow. */
  own(stream: Observable<unknown>): Observable<unknown> {
    return new Observable((subscriber) => runInFlow(this.#flow, () => stream.subscribe(subscriber)));
  }

  /** Connects the streams to the sources of the rule that is the next to subscribe. */
  connect(sources: Sources): void {
    this.#sources = sources;
  }

  #peek(address: string): Value | undefined {
    if (this.#sources !== undefined) return this.#sources.peek(address);
    throw new Error(`no value is known yet: call on.peek within a stream, such as map(() => on.peek("${address}"))`);
  }

  #create<T>(
    addresses: readonly string[],
    type: ValueType | undefined,
    listensToWrites: boolean,
    subscribe: (sources: Sources, emit: (value: T) => void) => Subscription,
  ): Observable<T> {
    const stream = new Observable<T>((subscriber: Subscriber<T>) => {
      if (this.#sources === undefined)
        throw new Error(
          'only the hub subscribes to the streams in a flow file: use the stream as the `from` of a rule',
        );
      return subscribe(this.#sources, (value) => runInFlow(this.#flow, () => subscriber.next(value)));
    });
    const { stack = '' } = new Error('asked');
    for (const address of addresses) this.asked.push({ address, type, stack, listensToWrites });
    this.#addressesOf.set(stream, addresses);
    return stream;
  }
}

/** Returns whether a stream also emits writes that change nothing. */
function listensTo({ hear = 'changes' }: StreamOptions = {}): boolean {
  if (hear !== 'changes' && hear !== 'writes')
    throw new Error(`hear: expected "changes" or "writes", got ${describe(hear)}`);
  return hear === 'writes';
}

/** Wraps the object passed to `rules(on)`, so that reading an unknown name throws an error. */
function onlyThese(on: On): On {
  return new Proxy(on, {
    get(target, name) {
      const found = Reflect.get(target, name);
      if (found === undefined && typeof name === 'string') throw new Error(unknownOn(name, Object.keys(target)));
      return found;
    },
  });
}

function unknownOn(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return `unknown on.${name}, ${nearest === undefined ? `expected one of ${known.join(', ')}` : `did you mean on.${nearest}?`}`;
}
