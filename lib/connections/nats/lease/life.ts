// Whether a run of a hub is still connected: servers say at once when nobody listens.

import type { Session } from '../link/link.ts';
import type { HubName } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';

const answerMs = 500;

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

/** Whether a run of a hub is still there. */
export async function lifeOf(session: Session | undefined, name: HubName, id: string): Promise<Life> {
  if (session === undefined) return 'silent';
  const { RequestError } = await import('@nats-io/transport-node');
  try {
    await session.transport.request(subjectOfLife(name, id), '', answerMs);
    return 'there';
  } catch (error) {
    return error instanceof RequestError && error.isNoResponders() ? 'gone' : 'silent';
  }
}
