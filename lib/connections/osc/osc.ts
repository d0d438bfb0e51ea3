// The connection type `osc`: sends and receives Open Sound Control messages over UDP and TCP, and shows parameters of the hub as OSC
// addresses.

import { Observable } from 'rxjs';
import { type PacketTransport, type Refuse, TcpPort, tcpClient, UdpPort } from '../../device/ports.ts';
import type { Transport } from '../../device/transport.ts';
import { globToRegExp } from '../../model/glob.ts';
import { claimTcpPort, claimUdpPort } from '../claim.ts';
import {
  type ConnectionContext,
  type ConnectionEvent,
  type DeclaredAddresses,
  defineConnectionType,
  type PlayedMessages,
  playedPackets,
} from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import { Loss } from '../loss.ts';
import { createGuard, isLoopback, readPlace } from '../places.ts';
import type { SettingHint } from '../setting.ts';
import { acceptValue, bindingsOf, declarationOf, type Part } from './bindings.ts';
import { framingOf } from './framing.ts';
import { HubTree } from './hub-tree.ts';
import { readPacket, showPacket } from './packet.ts';
import { OscSession } from './session.ts';
import { listenPlace, type OscSettings, placesOf, settingsSchema } from './settings.ts';

export const osc = defineConnectionType({
  type: 'osc',
  isExternal: true,
  settingsSchema,
  durations: ['every', 'ask', 'bundles', 'connectTimeout', 'idleTimeout', 'hold'],
  parameters: (settings) => [...bindingsOf(settings).parts.values()].map(declarationOf),
  mistakes: (settings) => bindingsOf(settings).mistakes,
  claims: (settings) => {
    const place = listenPlace(settings);
    if (place === undefined) return [];
    return (settings.tcpListen === undefined ? claimUdpPort : claimTcpPort)(place.port, place.host);
  },
  hints: hintsOf,
  isSimulated: ({ simulate }) => simulate,
  showFrame: showPacket,
  played: { messages: playedMessages, run: (context, transport) => run(context, undefined, transport) },
  run: (context, hub) => (context.settings.simulate ? simulate(context) : run(context, hub)),
});

/** Runs the connection over `played`, a test's transport, or otherwise over the transports in the settings. */
function run(
  context: ConnectionContext<OscSettings>,
  hub: HubPort | undefined,
  played?: Transport,
): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { id, settings, scheduler, log, finish, turn, own } = context;
    const bindings = bindingsOf(settings);
    const parts = [...bindings.parts.values()];
    const refuse: Refuse = (bytes, reason) => session.refuse(bytes, reason);
    const transports = played === undefined ? transportsOf(settings, refuse) : [played];
    const tree =
      settings.tree === undefined || hub === undefined
        ? undefined
        : new HubTree({
            id,
            hub,
            tree: settings.tree,
            log,
            now: () => scheduler.now(),
            wire: (direction, packet) => context.wire(direction, packet),
            refuse: (reason) => refuse(new Uint8Array(), reason),
          });
    const loss = new Loss(settings, scheduler, () =>
      turn(() => {
        for (const part of parts) if (part.type !== 'T') subscriber.next({ unset: part.id });
      }),
    );
    const session = new OscSession(
      {
        settings,
        bindings,
        transports,
        scheduler,
        log,
        own,
        timeOfDay: context.timeOfDay,
        atSettle: context.atSettle,
        ...(played && { random: () => 1 }),
      },
      {
        set: (part, value, because) =>
          subscriber.next(
            value === undefined
              ? { unset: part.id }
              : because === undefined
                ? { set: part.id, own: own(part.id), value }
                : { set: part.id, own: own(part.id), value, because },
          ),
        settle: (partId, error) => subscriber.next({ settle: partId, error }),
        running: () => {
          loss.end();
          subscriber.next({ state: 'running' });
          subscriber.next({ stale: false });
        },
        away: (reason) => {
          subscriber.next({ state: 'degraded', reason: `${transports[0]!.name}: ${reason}` });
          subscriber.next({ stale: true });
          loss.begin();
        },
        wire: (direction, bytes, fault) => context.wire(direction, bytes, fault),
        turn,
        takeForTree: (message, sender) => tree?.take(message, sender) ?? false,
      },
    );
    const writing = writable(parts).map((part) =>
      context
        .inbox(part.id, (input) => {
          session.expectPeer(part.id);
          return acceptValue(part, input);
        })
        .subscribe({
          next: (value) => session.write(part, value, context.cause()),
          error: (error) => subscriber.error(error),
        }),
    );
    session.start();
    return () => {
      loss.end();
      for (const one of writing) one.unsubscribe();
      finish(session.stop());
    };
  });
}

/** Runs the connection without a peer and confirms every write immediately. */
function simulate(context: ConnectionContext<OscSettings>): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const parts = [...bindingsOf(context.settings).parts.values()];
    const writing = writable(parts).map((part) =>
      context.inbox(part.id).subscribe({
        next: (value) => {
          if (part.isConfirmed) subscriber.next({ set: part.id, value, because: context.cause() });
        },
        error: (error) => subscriber.error(error),
      }),
    );
    subscriber.next({ state: 'running' });
    subscriber.next({ stale: false });
    return () => {
      for (const one of writing) one.unsubscribe();
    };
  });
}

function writable(parts: readonly Part[]): readonly Part[] {
  return parts.filter(({ binding }) => binding.access !== 'read-only');
}

function transportsOf(settings: OscSettings, refuse: Refuse): readonly PacketTransport[] {
  const { tcp, tcpListen, hosts, idleTimeout } = settings;
  const framing = framingOf(settings.framing);
  if (tcp !== undefined) return [tcp, ...hosts].map((place) => tcpClient(readPlace(place), framing, refuse));
  const options = { bind: listenPlace(settings)!, refuse, guard: createGuard(settings.allowFrom) };
  return tcpListen === undefined
    ? [new UdpPort({ ...options, places: placesOf(settings) })]
    : [new TcpPort({ ...options, framing, idleTimeoutMs: idleTimeout })];
}

function hintsOf(settings: OscSettings, declared: DeclaredAddresses): readonly SettingHint[] {
  const { tree, allowFrom } = settings;
  if (tree === undefined) return [];
  const hints: SettingHint[] = [];
  const found = declared();
  const addresses = found === undefined ? undefined : [...found];
  for (const list of ['read', 'write'] as const)
    for (const [index, glob] of tree[list].entries()) {
      if (addresses === undefined) break;
      const pattern = globToRegExp(glob);
      if (!addresses.some((address) => pattern.test(address)))
        hints.push({ path: ['tree', list, index], message: `no parameter matches ${JSON.stringify(glob)}` });
    }
  const place = listenPlace(settings);
  if (
    tree.write.length > 0 &&
    allowFrom.length === 0 &&
    place !== undefined &&
    !isLoopback(place.host) &&
    settings.udp === undefined
  )
    hints.push({
      path: ['tree', 'write'],
      message: 'anyone who can reach the port can write these parameters; set allowFrom',
    });
  return hints;
}

/** The converters for the messages in tests, which have the text format of `patchbay wire`: `/ch/01/mix/fader f 0.75`. */
function playedMessages({ tcp }: OscSettings): PlayedMessages {
  return playedPackets(tcp === undefined, showPacket, readPacket);
}
