// Who asks for a lease, who else does and whether that one is still connected, and what the lease is a part of.

import { withinTicks } from '../../../model/time/wall-clock.ts';
import type { Session } from '../link/nats-link.ts';
import type { HubName } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';

/** Who asks for the lease: `id` is of this run of the program alone, `name` tells people which one it is. */
export interface Holder {
  readonly id: string;
  readonly name: string;
  readonly parts?: number;
}

/** The greatest term that was heard of, of all parts of a lease. */
export interface Terms {
  greatest: number;
}

/** What is known of others than by their renewals. */
export interface Rivals {
  lifeOf(holder: string): Promise<Life>;
  /** false: what the lease protects may be done twice for a while, so a holder that seems to be gone is not waited for. */
  readonly isExclusive: boolean;
  /** Whether another hub is heard of that is to have the lease first. `answeredMs`: for so long servers have answered. Left out: none is. */
  goesFirst?(answeredMs: number): boolean;
}

/** The lease of which a cell is a part. */
export interface Whole {
  readonly terms: Terms;
  /** Whether this hub wants the lease at this moment: it is asked before it takes it, and before each renewal. */
  isWanted(): boolean;
  /** Whether another part of it is this hub's or has run out: then nobody goes on who could renew this one. Left out: there is none. */
  hasRunOut?(): boolean;
  /** Whether this hub has begun, and may go on. */
  hasBegun?(): boolean;
  /** The term in which this hub has begun; left out, undefined: it has not. */
  begunIn?(): number | undefined;
  /** The term to take it in, or a greater one; left out: one that is greater than all that was heard of. */
  nextTerm?(): number | undefined;
}

export const unknownRivals: Rivals = { lifeOf: async () => 'silent', isExclusive: true };
export const ofOneRegister = (): Whole => ({ terms: { greatest: 0 }, isWanted: () => true });

/** Who does not answer for so long is silent. */
const answerMs = 500;
/** A request lasts for longer: when this thread was busy meanwhile, what has been answered in time is still to be read. */
const requestMs = 2000;

function subjectOfLife({ domain, hub }: HubName, id: string): string {
  return `patchbay.${domain}.${hub}.life.${id}`;
}

/** Answers for as long as this hub is there; returns what ends that. */
export function answerForLife(transport: Transport, name: HubName, id: string): () => void {
  return transport.subscribe(subjectOfLife(name, id), (message) => {
    message.reply('');
    return undefined;
  });
}

/** *there*: it answers; *gone*: nobody listens; *silent*: it is stopped for a while, cut off, or too busy. */
export type Life = 'there' | 'gone' | 'silent';

/** Whether a run of a hub is still there: servers say at once when nobody listens. */
export async function lifeOf(session: Session | undefined, name: HubName, id: string): Promise<Life> {
  if (session === undefined) return 'silent';
  const { RequestError } = await import('@nats-io/transport-node');
  const life = session.transport.request(subjectOfLife(name, id), '', requestMs).then(
    (): Life => 'there',
    (error): Life => (error instanceof RequestError && error.isNoResponders() ? 'gone' : 'silent'),
  );
  return (await withinTicks(life, (ms) => ms >= answerMs)) ?? 'silent';
}
