// The parties of a lease: the holder, the other hubs (and whether they are still connected), and the whole lease that a register belongs
// to.

import { withinTicks } from '../../../model/time/wall-clock.ts';
import type { Session } from '../link/nats-link.ts';
import type { HubName } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';

/** A hub that requests the lease. `id` identifies this run of the program; `name` is shown to people. */
export interface Holder {
  readonly id: string;
  readonly name: string;
  readonly parts?: number;
}

/** The highest term that is known for any part of a lease. */
export interface Terms {
  greatest: number;
}

/** Reports whether other hubs are running and whether another hub takes precedence. */
export interface Rivals {
  lifeOf(holder: string): Promise<Life>;
  /** False if both hubs may run at the same time for a while. In this case, this hub does not wait for a holder that seems to be gone. */
  readonly isExclusive: boolean;
  /**
   * Returns whether another hub should get the lease first. `answeredMs` is the time for which the servers have been answering, in
   * milliseconds. If `goesFirst` is omitted, no other hub takes precedence.
   */
  goesFirst?(answeredMs: number): boolean;
}

/** The whole lease that a register is a part of. */
export interface Whole {
  readonly terms: Terms;
  /** Returns whether this hub currently wants the part. Called before the part is taken and before each renewal. */
  isWanted(): boolean;
  /**
   * Returns whether this hub holds another part or another part has expired. In both cases, no hub that could renew this part continues.
   * Omitted if there are no other parts.
   */
  hasRunOut?(): boolean;
  /** Returns whether this hub has begun and may continue. */
  hasBegun?(): boolean;
  /** Returns the term in which this hub has begun, or undefined if it has not begun. If `begunIn` is omitted, it has not begun. */
  begunIn?(): number | undefined;
  /** Returns the minimum term with which to take the part. Otherwise, the term is one greater than all known terms. */
  nextTerm?(): number | undefined;
}

export const unknownRivals: Rivals = { lifeOf: async () => 'silent', isExclusive: true };
export const ofOneRegister = (): Whole => ({ terms: { greatest: 0 }, isWanted: () => true });

/** The time after which a hub that has not answered counts as silent, in milliseconds. */
const answerMs = 500;
/**
 * The timeout of a request, in milliseconds. It is longer than `answerMs` because answers that arrived in time may still be unread if this
 * thread was busy.
 */
const requestMs = 2000;

function subjectOfLife({ domain, hub }: HubName, id: string): string {
  return `patchbay.${domain}.${hub}.life.${id}`;
}

/** Answers other hubs that check whether this hub is running. Returns a function that ends the subscription. */
export function answerForLife(transport: Transport, name: HubName, id: string): () => void {
  return transport.subscribe(subjectOfLife(name, id), (message) => {
    message.reply('');
    return undefined;
  });
}

/** The state of a hub. *there*: the hub answers; *gone*: the hub is not listening; *silent*: the hub is suspended, cut off, or too busy. */
export type Life = 'there' | 'gone' | 'silent';

/**
 * Resolves to whether a run of a hub is still connected. If the run is no longer connected, the servers immediately report that nobody is
 * listening.
 */
export async function lifeOf(session: Session | undefined, name: HubName, id: string): Promise<Life> {
  if (session === undefined) return 'silent';
  const { RequestError } = await import('@nats-io/transport-node');
  const life = session.transport.request(subjectOfLife(name, id), '', requestMs).then(
    (): Life => 'there',
    (error): Life => (error instanceof RequestError && error.isNoResponders() ? 'gone' : 'silent'),
  );
  return (await withinTicks(life, (ms) => ms >= answerMs)) ?? 'silent';
}
