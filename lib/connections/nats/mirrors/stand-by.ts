// A hub of a pair that stands by tells the one that runs how far it has come with what that tells.

import { type HubName, subjectOf } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';
import type { Ownership } from '../ownership/ownership.ts';
import type { Receipt } from '../wire/messages.ts';

/** Answers for as long as this hub stands by; returns what ends that. */
export function tellReceipts(
  transport: Transport,
  name: HubName,
  ownership: Pick<Ownership, 'isHolder' | 'changed$'>,
  receiptOf: () => Receipt,
): () => void {
  let end = () => {};
  const follow = () => {
    end();
    end = ownership.isHolder
      ? () => {}
      : transport.subscribe(subjectOf(name, 'receipt'), (message) => {
          message.reply(JSON.stringify(receiptOf()));
          return undefined;
        });
  };
  follow();
  const following = ownership.changed$.subscribe({ next: follow, error: () => {} });
  return () => {
    following.unsubscribe();
    end();
  };
}
