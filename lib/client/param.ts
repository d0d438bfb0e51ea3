// One parameter as a program sees it: what it is now, a stream of its values, and a way to set it.

import type { Access } from '../model/parameter.ts';
import type { Value, ValueType } from '../model/value.ts';
import type { Pool } from './pool.ts';
import type { Replica } from './replica.ts';
import type { ReplicaParameter } from './replica-parameter.ts';
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
  readonly replica: Replica;
  readonly pool: Pool;
  set(address: string, value: Value): Promise<void>;
  isStale(): boolean;
}

export function createParameter(address: string, { replica, pool, set, isStale }: ParameterOptions): Parameter {
  const stream = createStream<Value | undefined>((observer) => {
    const parameter = pool.join(address);
    parameter.watchers ??= new Emitter();
    const remove = parameter.watchers.add(observer, ...(parameter.isKnown ? [parameter.value] : []));
    return () => leave(pool, parameter, remove);
  });
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
      return isStale() || replica.find(address)?.completeIn !== replica.connection;
    },
    set: (value: Value) => set(address, value),
    fire: () => set(address, true),
  };
  return Object.defineProperties(stream, Object.getOwnPropertyDescriptors(own)) as Parameter;
}

/** Tells 1 for each fire of a trigger; returns what ends it. */
export function watchFires(pool: Pool, address: string, observer: Observer<1>): () => void {
  const parameter = pool.join(address);
  parameter.fires ??= new Emitter();
  const remove = parameter.fires.add(observer);
  return () => leave(pool, parameter, remove);
}

function leave(pool: Pool, parameter: ReplicaParameter, remove: () => void): void {
  remove();
  if (!parameter.watchers?.isObserved && !parameter.fires?.isObserved) pool.leave(parameter);
}
