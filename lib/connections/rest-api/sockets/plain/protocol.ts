// The plain protocol (S-10, D-26), for clients that ask for no subprotocol.

import { closeCodes } from '../../../../wire/close-codes.ts';
import { createFilter } from '../../filters/filter.ts';
import type { Protocol, ProtocolContext } from '../protocol.ts';
import { PlainClient, type PlainContext } from './client.ts';
import { PlainGroups } from './group.ts';
import { PlainReader } from './message.ts';
import { createOutbox } from './outbox.ts';

/** Creates the plain protocol. */
export function servePlain({ apps, hub, log, hits, writes, tasks, fanOut, bound }: ProtocolContext): Protocol {
  const outbox = createOutbox(apps);
  const groups = new PlainGroups(hub, fanOut, bound, outbox.put);
  const context: PlainContext = {
    ...{ hub, log, hits, writes, tasks, outbox, groups },
    rounds: fanOut.rounds,
    reader: new PlainReader(),
    clients: new Set(),
  };
  return {
    name: 'plain',
    subprotocol: '',
    accept(origin, address, queryText) {
      const query = new URLSearchParams(queryText);
      const patterns = query.getAll('filter').sort();
      const topic = groups.join(JSON.stringify(patterns), () => createFilter(patterns));
      const seen = isTrue(query.get('snapshot')) ? 0 : undefined;
      return new PlainClient(context, { patterns, topic, origin, address, seen });
    },
    close() {
      outbox.flush();
      for (const client of [...context.clients]) client.end(closeCodes.goingAway, 'the hub stops');
    },
  };
}

function isTrue(text: string | null): boolean {
  return text === 'true' || text === '1';
}
