// The subprotocol patchbay.v1 (lib/client/README.md): its clients, and what they have in common.

import { randomUUID } from 'node:crypto';
import type { Parameter } from '../../../../model/parameter.ts';
import { closeCodes } from '../../../../wire/close-codes.ts';
import { maxMessageBytes, maxPatterns, maxRate, maxRegexes, maxSubscriptions } from '../../../../wire/limits.ts';
import { protocolName } from '../../../../wire/protocol.ts';
import type { Greeting } from '../../../../wire/v1/hub-messages.ts';
import type { Channel } from '../channel.ts';
import type { Protocol, ProtocolContext } from '../protocol.ts';
import { Client } from './client.ts';
import { encode } from './frames.ts';
import { Groups } from './groups.ts';
import { createSubscriptionReader } from './handlers/subscription-reader.ts';
import { V1Session } from './session.ts';
import { StallWatch } from './stall-watch.ts';

const limits: Greeting['limits'] = {
  messageBytes: maxMessageBytes,
  subscriptions: maxSubscriptions,
  patterns: maxPatterns,
  regexes: maxRegexes,
  rate: maxRate,
};

interface V1Protocol extends Protocol {
  /** Tells of a parameter that is new. */
  declare(parameter: Parameter): void;
  /** Tells of a parameter that is no more. */
  forget(channel: Channel): void;
}

/** Serves clients that offer the subprotocol. */
export function serveV1({ hub, settings, log, hits, writes, pace, tasks, fanOut, bound }: ProtocolContext): V1Protocol {
  const sessions = new Set<V1Session>();
  const giveUp = (client: Client) => {
    hits.add('stallMs', client.address);
    groups.remove(client);
    stalls.delete(client);
    setImmediate(() => client.end(closeCodes.stalled, 'you did not read'));
  };
  const stalls = new StallWatch<Client>(settings.stallTimeout, giveUp);
  const groups = new Groups(hub, fanOut, giveUp);
  const epoch = randomUUID();
  const desk = { hub, log, writes, fanOut, groups, epoch, readSubscription: createSubscriptionReader(bound, fanOut) };
  const hello = encode({ hello: { epoch, hub: `patchbay ${hub.version}`, limits } });
  const shared = { desk, hits, pace, tasks, sessions, stalls, hello };

  return {
    name: protocolName,
    subprotocol: protocolName,
    accept: (origin, address) => new V1Session(shared, new Client(origin, address, (client) => stalls.add(client))),
    declare: (parameter) => groups.structure.declare(fanOut.channelOf(parameter)),
    forget: (channel) => groups.structure.forget(channel),
    close() {
      for (const session of [...sessions]) session.end(closeCodes.goingAway, 'the hub stops');
    },
  };
}
