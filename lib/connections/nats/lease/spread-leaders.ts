// Distributes the leaders of a lease's streams over the servers of a cluster. Any server may be elected as leader. If one server led all
// streams, its failure would stop a pair, and two servers that are cut off from each other disturb every stream that either of them leads.
// If the holder dies together with its server, because both run on the same machine, its successor must wait for a new leader of each
// stream that this server led. Therefore, the holder requests other leaders for streams until each server leads a stream and its own server
// leads at most one stream.

import type { StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type SchedulerLike, Subscription } from 'rxjs';

const lookEveryMs = 2000;
/** The pause after another leader was requested, in milliseconds. The new leader may be a server that already leads a stream. */
const electedMs = 1000;
/** The pause after the server has not permitted the request, in milliseconds. */
const refusedMs = 30_000;
const answerMs = 1000;

export interface SpreadOptions {
  /** Returns the current connection, or undefined if there is no connection. */
  readonly connection: () => NatsConnection | undefined;
  readonly streams: readonly string[];
  /** Returns whether the streams may be without a leader for a moment. */
  readonly isCalm: () => boolean;
  readonly clock: SchedulerLike;
}

/** The servers that store a stream, if all of them are connected and up to date: the leader and the followers. */
export interface Placed {
  readonly leader: string;
  readonly followers: readonly string[];
}

export function spreadLeaders({ connection, streams, isCalm, clock }: SpreadOptions): Subscription {
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

/**
 * Finds a stream that needs another leader: its leader also leads an earlier stream, and either this leader is `own` or one of the
 * followers leads no stream.
 */
export function findCrowded(placed: readonly (Placed | undefined)[], own: string): number | undefined {
  const leaders = placed.map((one) => one?.leader);
  const index = placed.findIndex((one, place) => {
    if (one === undefined || leaders.indexOf(one.leader) === place) return false;
    return one.followers.some((follower) => one.leader === own || !leaders.includes(follower));
  });
  return index < 0 ? undefined : index;
}

/**
 * Resolves to the servers of a stream, or to undefined if the stream has no leader or not all of its servers are connected and up to date.
 */
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
