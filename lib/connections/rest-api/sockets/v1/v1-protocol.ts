// The subprotocol patchbay.v1 (docs/protocol.md): creates its sessions, and the objects that all sessions share.

import { createHmac, randomUUID } from 'node:crypto';
import type { Parameter } from '../../../../model/parameter.ts';
import { maxMessageBytes, maxRate, maxRegexes } from '../../../../wire/limits.ts';
import { closeCodes, protocolName } from '../../../../wire/protocol.ts';
import type { Greeting } from '../../../../wire/v1/hub-messages.ts';
import type { LostFires } from '../../../mirroring.ts';
import type { Limits } from '../../limits/limit-settings.ts';
import type { Principal } from '../../users/principal.ts';
import type { Channel } from '../fan-out.ts';
import type { Protocol, ProtocolContext } from '../socket-protocol.ts';
import { SubscriptionShares } from '../user-shares.ts';
import { Client, type ClientEvents } from './client.ts';
import { encode } from './frames.ts';
import type { GiveUp } from './group.ts';
import { Groups } from './groups.ts';
import { createSubscriptionReader } from './subscription.ts';
import { StallWatch, V1Session } from './v1-session.ts';

interface V1Protocol extends Protocol {
  /** Announces a new parameter to the clients that subscribe to it. */
  declare(parameter: Parameter): void;
  /** Reports to clients that the hub has removed a parameter; `channel` is the former channel of the parameter. */
  forget(parameter: Parameter, channel: Channel | undefined): void;
  /** Reports the marks of parameters whose staleness, unconfirmed write or metadata has changed. */
  reportStale(parameters: Iterable<Parameter>): void;
  /** Reports to clients that firings from other hubs were lost. */
  reportLost(fires: LostFires): void;
}

/** Creates the protocol for clients that offer the subprotocol `patchbay.v1`. */
export function serveV1({
  hub,
  settings,
  log,
  hits,
  writes,
  rates,
  queue,
  resume,
  fanOut,
  boundOf,
}: ProtocolContext): V1Protocol {
  const { limits } = settings;
  const sessions = new Set<V1Session>();
  const giveUp: GiveUp = (client, limit) => {
    hits.add(limit, client.remoteAddress);
    groups.remove(client);
    stalls.delete(client);
    setImmediate(() => client.end(closeCodes.stalled, 'the client did not read for too long'));
  };
  const stalls = new StallWatch(settings.stallTimeout, (client) => giveUp(client, 'stallMs'));
  const groups = new Groups(hub, fanOut, { queue, giveUp });
  const epochs = new Epochs();
  const shares = new SubscriptionShares(limits);
  const context = {
    hub,
    log,
    writes,
    hits,
    rates,
    shares,
    limits,
    fanOut,
    groups,
    readSubscription: createSubscriptionReader(boundOf, fanOut, limits),
  };
  const taken = limitsReported(limits);
  const greetingOf = ({ epoch }: Client) => encode({ hello: { epoch, hub: `patchbay ${hub.version}`, limits: taken } });
  const shared = { context, hits, queue, resume, sessions, stalls, greetingOf };

  return {
    name: protocolName,
    subprotocol: protocolName,
    accept(handshakeRequest) {
      const events: ClientEvents = {
        full: (client) => stalls.add(client),
        sentLate: () => session.drained(),
        waits(client, isWaiting) {
          if (isWaiting) hits.add('pendingAcks', client.remoteAddress);
          else resume(session);
        },
      };
      const client = new Client(handshakeRequest, epochs.of(handshakeRequest.principal), limits.unreadBytes, events);
      const session = new V1Session(shared, client);
      return session;
    },
    declare(parameter) {
      groups.structure.declare(fanOut.channelOf(parameter));
      if (parameter.about !== undefined) groups.staleness.look([parameter]);
    },
    forget(parameter, channel) {
      groups.staleness.forget(parameter);
      if (channel !== undefined) groups.structure.forget(channel);
    },
    reportStale: (parameters) => groups.staleness.look(parameters),
    reportLost: (fires) => groups.reportLost(fires),
    close() {
      for (const session of [...sessions]) session.end(closeCodes.goingAway, 'the hub is shutting down');
    },
  };
}

/** Returns the limits that the greeting reports to a client. */
function limitsReported({ subscriptions, patterns }: Limits): Greeting['limits'] {
  return { messageBytes: maxMessageBytes, subscriptions, patterns, regexes: maxRegexes, rate: maxRate };
}

/**
 * Creates the epochs, which identify this run of the hub and the rights of a client. A client whose rights have changed cannot resume,
 * because the changes since its position lack parameters that have only now become visible to it. The secret keeps a client from
 * discovering its denied globs by comparing its epoch with guesses.
 */
class Epochs {
  readonly #epoch = randomUUID();
  readonly #secret = randomUUID();

  of({ key }: Principal): string {
    if (key === '') return this.#epoch;
    return `${this.#epoch}-${createHmac('sha256', this.#secret).update(key).digest('hex').slice(0, 12)}`;
  }
}
