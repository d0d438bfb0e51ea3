// The streams that rules in TypeScript are made of. They are made while the file is checked, and connected to a graph
// before they run.

import { Observable, type Subscriber, type Subscription } from 'rxjs';
import type { Value, ValueType } from '../model/value.ts';
import type { On } from './define-flow.ts';
import { inFlow } from './programs/flow-code.ts';
import type { Ears } from './run/rules/rule-subscriptions.ts';
import { listenToAny, listenToNamed } from './run/rules/sources.ts';

/** A parameter that a stream listens to; `type` is what the author says it is, undefined for any. */
export interface Heard {
  readonly address: string;
  readonly type: ValueType | undefined;
}

export interface Streams {
  readonly on: On;
  /** Every parameter that has been asked for. */
  readonly heard: readonly Heard[];
  /** The addresses that a stream leads back to; those of the whole file where it joins several streams. */
  addressesOf(stream: Observable<unknown>): readonly string[];
  /** The same stream; what it starts once it is subscribed to is known as the flow's own. */
  own(stream: Observable<unknown>): Observable<unknown>;
  /** Gives the streams the ears of the rule that is subscribed next. */
  connect(ears: Ears): void;
}

/** Creates the streams of a flow file of this name. What its streams start, such as a timer, is known as its own. */
export function createStreams(flow: string): Streams {
  const heard: Heard[] = [];
  const roots = new WeakMap<Observable<unknown>, readonly string[]>();
  let connected: Ears | undefined;

  const stream = <T>(subscribe: (ears: Ears, subscriber: Subscriber<T>) => Subscription) =>
    new Observable<T>((subscriber) => {
      if (connected === undefined) throw new Error('a stream of a flow file is subscribed to by the hub only');
      return subscribe(connected, subscriber);
    });
  const tell = <T>(subscriber: Subscriber<T>, value: T) => inFlow.run(flow, () => subscriber.next(value));
  const root = <T>(addresses: readonly string[], type: ValueType | undefined, stream: Observable<T>) => {
    for (const address of addresses) heard.push({ address, type });
    roots.set(stream, addresses);
    return stream;
  };
  const hear =
    <T extends Value>(type: ValueType) =>
    (address: string) =>
      root(
        [address],
        type,
        stream<T>((ears, subscriber) => listenToAny(ears, [address], (value) => tell(subscriber, value as T))),
      );
  const on: On = {
    text: hear('S'),
    flag: hear('B'),
    integer: hear('I'),
    float: hear('F'),
    trigger: hear('T'),
    all: (names) =>
      root(
        Object.values(names),
        undefined,
        stream((ears, subscriber) =>
          listenToNamed(ears, names, (values, isComplete) => {
            if (isComplete) tell(subscriber, values as never);
          }),
        ),
      ),
  };
  return {
    on,
    heard,
    addressesOf(stream) {
      for (let at: Observable<unknown> | undefined = stream; at !== undefined; at = at.source) {
        const addresses = roots.get(at);
        if (addresses !== undefined) return addresses;
      }
      return heard.map(({ address }) => address);
    },
    own: (stream) => new Observable((subscriber) => inFlow.run(flow, () => stream.subscribe(subscriber))),
    connect(ears) {
      connected = ears;
    },
  };
}
