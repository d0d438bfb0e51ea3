// The connection type `dmx`: sends and receives lighting control data over sACN (E1.31) or Art-Net.

import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { Observable } from 'rxjs';
import type { Transport } from '../../device/transport.ts';
import { claimUdpPort } from '../claim.ts';
import {
  type ConnectionContext,
  type ConnectionEvent,
  defineConnectionType,
  type PlayedMessages,
  playedPackets,
} from '../connection.ts';
import { Loss } from '../loss.ts';
import { readShown, showPacket } from './packets.ts';
import { DmxSession } from './session.ts';
import {
  type DmxSettings,
  declarationOf,
  deviceOf,
  type Fixture,
  fixturesOf,
  protocolOf,
  settingsSchema,
} from './settings.ts';
import { DmxSocket } from './socket.ts';

export const dmx = defineConnectionType({
  type: 'dmx',
  isExternal: true,
  settingsSchema,
  durations: ['idleTimeout', 'hold'],
  parameters: (settings) => fixturesOf(settings).fixtures.map(declarationOf),
  mistakes: (settings) => fixturesOf(settings).mistakes,
  claims: (settings) => {
    const receives = fixturesOf(settings).fixtures.some((one) => one.settings.direction === 'in');
    const { port = protocolOf(settings).port, simulate } = settings;
    return simulate || (settings.protocol === 'sacn' && !receives) ? [] : claimUdpPort(port, '');
  },
  isSimulated: ({ simulate }) => simulate,
  showFrame: showPacket,
  played: { messages: playedMessages, run: (context, transport) => run(context, transport) },
  run: (context) => run(context, context.settings.simulate ? silentTransport : undefined),
});

/** Runs the connection over `played`, a test's transport, or otherwise over the network. */
function run(context: ConnectionContext<DmxSettings>, played?: Transport): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { id, settings, scheduler, log, finish, turn, own, atSettle } = context;
    const { fixtures } = fixturesOf(settings);
    const protocol = protocolOf(settings);
    const received = fixtures.filter((one) => one.settings.direction === 'in');
    const sent = fixtures.filter((one) => one.settings.direction === 'out');
    const cid = createHash('sha256').update(`${hostname()} ${id}`).digest().subarray(0, 16);
    const universesOf = (some: readonly Fixture[]) => [...new Set(some.map(({ universe }) => universe))];
    const transport =
      played ??
      new DmxSocket({
        settings,
        protocol,
        cid,
        receives: universesOf(received),
        sends: universesOf(sent),
        scheduler,
        refuse: (bytes, reason) => session.refuse(bytes, reason),
      });
    const losses = new Map(
      universesOf(received).map((universe) => [
        universe,
        new Loss(settings, scheduler, () =>
          turn(() => {
            session.forget(universe);
            for (const fixture of received) if (fixture.universe === universe) subscriber.next({ unset: fixture.id });
          }),
        ),
      ]),
    );
    const session = new DmxSession(
      {
        ...{ settings, protocol, cid, transport, scheduler, log, atSettle },
        isRepeated: played === undefined,
        ...(played && { random: () => 1 }),
      },
      {
        received: (values) =>
          turn(() => {
            for (const [fixture, value] of values) subscriber.next({ set: fixture.id, own: own(fixture.id), value });
          }),
        heard: (universe, isHeard) => {
          subscriber.next({ stale: !isHeard, device: deviceOf(universe) });
          const loss = losses.get(universe)!;
          if (isHeard) loss.end();
          else loss.begin();
        },
        running: () => {
          subscriber.next({ state: 'running' });
          subscriber.next({ stale: false });
          for (const universe of universesOf(received)) subscriber.next({ stale: true, device: deviceOf(universe) });
        },
        away: (reason) => {
          subscriber.next({ state: 'degraded', reason: `${transport.name}: ${reason}` });
          subscriber.next({ stale: true });
          for (const loss of losses.values()) loss.begin();
        },
        wire: (direction, bytes, fault) => context.wire(direction, bytes, fault),
      },
    );
    for (const fixture of sent) {
      const value = own(fixture.id)?.value;
      if (value !== undefined) session.begin(fixture, value);
    }
    const writing = sent.map((fixture) =>
      context.inbox(fixture.id).subscribe({
        next: (value) => {
          session.write(fixture, value);
          subscriber.next({ set: fixture.id, own: own(fixture.id), value, because: context.cause() });
        },
        error: (error) => subscriber.error(error),
      }),
    );
    session.start();
    return () => {
      for (const one of writing) one.unsubscribe();
      for (const loss of losses.values()) loss.end();
      finish(session.stop());
    };
  });
}

/** A transport that opens immediately and neither sends nor receives any packets. */
const silentTransport: Transport = {
  name: 'simulation',
  keepsFrames: true,
  isPassive: true,
  open(listener) {
    queueMicrotask(() => listener.opened());
    return { send() {}, end() {} };
  },
};

/** The converters for the packets in tests, which have the text format of `patchbay wire`: `universe 1: 1=255 7=12`. */
function playedMessages(settings: DmxSettings): PlayedMessages {
  const protocol = protocolOf(settings);
  let sequence = 0;
  return playedPackets(true, showPacket, (text, direction) => {
    if (direction === 'in') sequence = (sequence % 255) + 1;
    const common = { name: 'test', cid: Buffer.alloc(16), priority: 100, sequence, isTerminated: false };
    return protocol.encode({ ...readShown(text), ...common });
  });
}
