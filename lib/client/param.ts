// One parameter as a program sees it: what it is now, a stream of its values, and a way to set it.

import type { Access } from '../model/parameter.ts';
import type { Value, ValueType } from '../model/value.ts';
import type { Entry, Picture } from './picture.ts';
import type { Pool } from './pool.ts';
import { createStream, Emitter, type Observer, type Stream } from './stream.ts';

/**
 * A parameter. As a stream: hot, replays the known value, then each change; undefined when there is no value any more; of a
 * trigger 1 per fire. What it reads as is kept up to date while somebody subscribes to it.
 */
export interface Parameter extends Stream<Value | undefined> {
  readonly address: string;
  /** undefined: the hub has no such parameter, or has not said so yet. */
  readonly type: ValueType | undefined;
  readonly access: Access | undefined;
  /** undefined: unknown, or a trigger. */
  readonly value: Value | undefined;
  readonly isKnown: boolean;
  /** Whether the hub may have another value by now, or have the parameter at all. */
  readonly isStale: boolean;
  /** As `hub.set`. */
  set(value: Value): Promise<void>;
  /** Fires a trigger. */
  fire(): Promise<void>;
}

interface ParameterOptions {
  readonly picture: Picture;
  readonly pool: Pool;
  set(address: string, value: Value): Promise<void>;
  isStale(): boolean;
}

export function createParameter(address: string, { picture, pool, set, isStale }: ParameterOptions): Parameter {
  const stream = createStream<Value | undefined>((observer) => {
    const entry = pool.join(address);
    entry.watchers ??= new Emitter();
    const remove = entry.watchers.add(observer, ...(entry.isKnown ? [entry.value] : []));
    return () => leave(pool, entry, remove);
  });
  const own = {
    address,
    get type() {
      return picture.find(address)?.type;
    },
    get access() {
      return picture.find(address)?.access;
    },
    get value() {
      return picture.find(address)?.value;
    },
    get isKnown() {
      return this.value !== undefined;
    },
    get isStale() {
      return isStale() || picture.find(address)?.completeIn !== picture.connection;
    },
    set: (value: Value) => set(address, value),
    fire: () => set(address, true),
  };
  return Object.defineProperties(stream, Object.getOwnPropertyDescriptors(own)) as Parameter;
}

/** Tells 1 for each fire of a trigger; returns what ends it. */
export function watchFires(pool: Pool, address: string, observer: Observer<1>): () => void {
  const entry = pool.join(address);
  entry.fires ??= new Emitter();
  const remove = entry.fires.add(observer);
  return () => leave(pool, entry, remove);
}

function leave(pool: Pool, entry: Entry, remove: () => void): void {
  remove();
  if (!entry.watchers?.isObserved && !entry.fires?.isObserved) pool.leave(entry);
}
