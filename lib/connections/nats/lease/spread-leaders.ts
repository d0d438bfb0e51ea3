// Keeps the streams of a lease apart. Servers of a cluster elect leaders wherever they happen to be: where one of them led all streams, its
// end would stop a pair, and two that are cut off from one another disturb every stream that either of them leads. Where the holder dies
// together with the server that it asks, as both are on one machine, whoever follows waits for another leader of each stream that this
// one led. So the holder asks for another leader of a stream, until each server leads one, and its own server no more than that.

import type { StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type SchedulerLike, Subscription } from 'rxjs';

const lookEveryMs = 2000;
/** So soon it looks again after it has asked for another leader, which may be on a server that leads one already. */
const electedMs = 1000;
/** And so late when the server does not let this hub ask. */
const refusedMs = 30_000;
const answerMs = 1000;

export interface Spreading {
  /** The present connection; undefined: there is none. */
  readonly connection: () => NatsConnection | undefined;
  readonly streams: readonly string[];
  /** Whether a stream may do without a leader for a moment. */
  readonly isCalm: () => boolean;
  readonly clock: SchedulerLike;
}

/** Where a stream is: the names of the server that leads it and of those that follow, none of which is behind or away. */
export interface Placed {
  readonly leader: string;
  readonly followers: readonly string[];
}

export function spreadLeaders({ connection, streams, isCalm, clock }: Spreading): Subscription {
  const running = new Subscription();
  if (streams.length < 2) return running;
  const spread = async () => {
    const present = connection();
    if (present?.info?.cluster === undefined || !isCalm()) return lookEveryMs;
    try {
      const placed = await Promise.all(streams.map((stream) => placeOf(present, stream)));
      const crowded = findCrowded(placed, present.info.server_name);
      if (crowded === undefined || !isCalm() || running.closed) return lookEveryMs;
      await ask(present, `STREAM.LEADER.STEPDOWN.${streams[crowded]}`);
      return electedMs;
    } catch (error) {
      return (await isRefused(error)) ? refusedMs : lookEveryMs;
    }
  };
  let waiting = Subscription.EMPTY;
  const lookAfter = (ms: number) => {
    waiting = clock.schedule(() => void spread().then((next) => running.closed || lookAfter(next)), ms);
  };
  lookAfter(lookEveryMs);
  running.add(() => waiting.unsubscribe());
  return running;
}

/** Which stream is led by a server that leads one before it, while that is `own`, or another one of its servers leads none. */
export function findCrowded(placed: readonly (Placed | undefined)[], own: string): number | undefined {
  const leaders = placed.map((one) => one?.leader);
  const index = placed.findIndex((one, place) => {
    if (one === undefined || leaders.indexOf(one.leader) === place) return false;
    return one.followers.some((follower) => one.leader === own || !leaders.includes(follower));
  });
  return index < 0 ? undefined : index;
}

/** undefined: it has no leader, or not all of its servers are there and have all of it. */
async function placeOf(connection: NatsConnection, stream: string): Promise<Placed | undefined> {
  const { cluster } = await ask<Partial<StreamInfo>>(connection, `STREAM.INFO.${stream}`);
  const { leader, replicas = [] } = cluster ?? {};
  if (!leader || replicas.some(({ current, offline }) => !current || offline)) return undefined;
  return { leader, followers: replicas.map(({ name }) => name) };
}

async function isRefused(error: unknown): Promise<boolean> {
  const { PermissionViolationError } = await import('@nats-io/transport-node');
  return error instanceof Error && [error, error.cause].some((one) => one instanceof PermissionViolationError);
}

async function ask<T>(connection: NatsConnection, what: string): Promise<T> {
  return (await connection.request(`$JS.API.${what}`, '', { timeout: answerMs })).json<T>();
}
