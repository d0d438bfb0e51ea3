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
  return transport.subscribe(subjectOfLife(name, id), (message) => message.reply(''));
}

/** Whether a run of a hub may still be there. One that does not answer may be stopped for a while. */
export async function isAlive(session: Session | undefined, name: HubName, id: string): Promise<boolean> {
  if (session === undefined) return true;
  const { RequestError } = await import('@nats-io/transport-node');
  try {
    await session.transport.request(subjectOfLife(name, id), '', answerMs);
    return true;
  } catch (error) {
    return !(error instanceof RequestError && error.isNoResponders());
  }
}
