// One parameter as seen by a program: its current state, a stream of its values, and a way to set the parameter.

import type { About } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import type { Replica } from './replica/replica.ts';
import type { ParameterView, ReplicaParameter } from './replica/replica-parameter.ts';
import { createStream, Emitter, type Observer, type Stream } from './stream.ts';
import type { Pool } from './subscriptions/pool.ts';

/**
 * A parameter of the hub, as a program sees it. The stream is hot: it replays the known value, then emits each change. It emits undefined
 * when the value becomes unknown, and 1 for each firing of a trigger. The properties are up to date only while the stream has a subscriber.
 */
export interface Parameter extends Stream<Value | undefined>, ParameterView {
  /** Whether the value, or the parameter itself, may have changed because the link is down or `staleSince` is set. */
  readonly isStale: boolean;
  /** Whether the parameter is stale. Hot, replays last, distinct. A subscription to this stream also keeps the value up to date. */
  readonly stale$: Stream<boolean>;
  /** The pending value, as in `wanted`. Hot, replays last, distinct. */
  readonly wanted$: Stream<Value | undefined>;
  /** The metadata, as in `about`. Hot, replays last, distinct. */
  readonly about$: Stream<About | undefined>;
  /** Writes the parameter, as `hub.set` does. Errors: `WriteError`. */
  set(value: Value): Promise<void>;
  /** Fires the trigger. Errors: `WriteError`. */
  fire(): Promise<void>;
}

interface ParameterOptions {
  readonly replica: Replica;
  readonly pool: Pool;
  set(address: string, value: Value): Promise<void>;
  isStale(): boolean;
  /** Emits whenever the result of `isStale` changes. */
  readonly stale$: Stream<boolean>;
}

export function createParameter(address: string, options: ParameterOptions): Parameter {
  const { replica, pool, set, isStale } = options;
  const stream = createStream<Value | undefined>((observer) => {
    const parameter = pool.join(address);
    parameter.watchers ??= new Emitter();
    const remove = parameter.watchers.add(observer, ...(parameter.isKnown ? [parameter.value] : []));
    return () => leave(pool, parameter, remove);
  });
  const isOwnStale = () => {
    const parameter = replica.find(address);
    return isStale() || parameter?.completeIn !== replica.connection || parameter.staleSince !== undefined;
  };
  const own = {
    address,
    get type() {
      return replica.find(address)?.type;
    },
    get access() {
      return replica.find(address)?.access;
    },
    get value() {
      return replica.find(address)?.value;
    },
    get isKnown() {
      return this.value !== undefined;
    },
    get isStale() {
      return isOwnStale();
    },
    get wanted() {
      return replica.find(address)?.wanted;
    },
    get about() {
      return replica.find(address)?.about;
    },
    stale$: createStream<boolean>((observer) => watch(options, address, isOwnStale, observer)),
    wanted$: createStream<Value | undefined>((observer) =>
      watch(options, address, () => replica.find(address)?.wanted, observer),
    ),
    about$: createStream<About | undefined>((observer) =>
      watch(options, address, () => replica.find(address)?.about, observer),
    ),
    get staleSince() {
      return replica.find(address)?.staleSince;
    },
    set: (value: Value) => set(address, value),
    fire: () => set(address, true),
  };
  return Object.defineProperties(stream, Object.getOwnPropertyDescriptors(own)) as Parameter;
}

/** Emits 1 to an observer for each firing of a trigger. Returns a function that stops the emissions. */
export function watchFires(pool: Pool, address: string, observer: Observer<1>): () => void {
  const parameter = pool.join(address);
  parameter.fires ??= new Emitter();
  const remove = parameter.fires.add(observer);
  return () => leave(pool, parameter, remove);
}

/**
 * Emits a property of a parameter other than its value to an observer, such as whether the parameter is stale: the current state first, and
 * then each change. Returns a function that stops the emissions.
 */
function watch<T>(
  { pool, stale$ }: ParameterOptions,
  address: string,
  read: () => T,
  observer: Observer<T>,
): () => void {
  const parameter = pool.join(address);
  let last = read();
  const own = new Emitter<T>();
  const removeOwn = own.add(observer, last);
  const look = () => {
    const now = read();
    if (now === last) return;
    last = now;
    own.next(now);
  };
  parameter.ages ??= new Emitter();
  const remove = parameter.ages.add({
    next: look,
    error: (error) => own.error(error),
    complete: () => own.complete(),
  });
  const ofLink = stale$.subscribe(look);
  return () => {
    ofLink.unsubscribe();
    removeOwn();
    leave(pool, parameter, remove);
  };
}

function leave(pool: Pool, parameter: ReplicaParameter, remove: () => void): void {
  remove();
  const { watchers, fires, ages } = parameter;
  if (![watchers, fires, ages].some((one) => one?.isObserved)) pool.leave(parameter);
}
