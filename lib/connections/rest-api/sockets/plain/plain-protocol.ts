// The plain protocol (S-10, D-26), for clients that request no subprotocol.

import { closeCodes } from '../../../../wire/protocol.ts';
import { bothOf, createFilter } from '../../filters/filter.ts';
import type { Protocol, ProtocolContext } from '../socket-protocol.ts';
import { PlainReader } from './message.ts';
import { PlainClient, type PlainContext } from './plain-client.ts';
import { PlainGroups } from './plain-group.ts';
import { createOutbox } from './plain-outbox.ts';

/** How long the outbox sends late frames when the hub shuts down, in milliseconds. */
const lastLateMs = 100;

/** Creates the plain protocol for the clients of a connection. */
export function servePlain(options: ProtocolContext): Protocol {
  const { apps, hub, settings, log, hits, writes, rates, round, queue, fanOut } = options;
  const { notePublished, boundOf, resume } = options;
  const { patternSteps } = settings.limits;
  const outbox = createOutbox(apps, round, queue, notePublished);
  const groups = new PlainGroups(hub, fanOut, outbox.put);
  const context: PlainContext = {
    ...{ hub, log, hits, writes, rates, queue, outbox, groups, resume },
    rounds: fanOut.rounds,
    lost: fanOut.lost,
    reader: new PlainReader(),
    clients: new Set(),
  };
  return {
    name: 'plain',
    subprotocol: '',
    accept(handshakeRequest, queryText) {
      const query = new URLSearchParams(queryText);
      const patterns = query.getAll('filter').sort();
      const { principal } = handshakeRequest;
      const isList = isTrue(query.get('list'));
      const key = `${principal.key}\n${isList}\n${JSON.stringify(patterns)}`;
      const filterOf = () => bothOf(boundOf(principal), createFilter(patterns, patternSteps));
      const topic = groups.join(key, filterOf, isList);
      const seen = isTrue(query.get('snapshot')) ? 0 : undefined;
      return new PlainClient(context, { ...handshakeRequest, patterns, topic, seen });
    },
    close() {
      outbox.flush();
      outbox.late.advance(performance.now() + lastLateMs);
      for (const client of [...context.clients]) client.end(closeCodes.goingAway, 'the hub is shutting down');
    },
  };
}

function isTrue(text: string | null): boolean {
  return text === 'true' || text === '1';
}
