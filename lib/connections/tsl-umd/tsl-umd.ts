// The connection type `tsl-umd`: the texts and tallies of under-monitor displays and multiviewers, in TSL UMD 3.1, 4 and 5. A
// connection either receives displays from a tally controller or sends displays to their destinations.

import { Observable } from 'rxjs';
import { DeviceLink } from '../../device/link.ts';
import { type Refuse, TcpPort, tcpClient, UdpPort } from '../../device/ports.ts';
import { type Transport, udpTransport } from '../../device/transport.ts';
import { claimTcpPort, claimUdpPort } from '../claim.ts';
import {
  type ConnectionContext,
  type ConnectionEvent,
  defineConnectionType,
  type PlayedMessages,
  playedPackets,
} from '../connection.ts';
import { Loss } from '../loss.ts';
import { createGuard, readPlace } from '../places.ts';
import {
  type Display,
  decodePacket,
  encodePacket,
  everywhere,
  framingOf,
  readDisplays,
  showPacket,
  unwrapDatagram,
} from './packet.ts';
import { Sender } from './sender.ts';
import {
  declarationsOf,
  displaysOf,
  isReceiving,
  listenPlace,
  type OwnDisplay,
  settingsSchema,
  type TslSettings,
} from './settings.ts';

export const tslUmd = defineConnectionType({
  type: 'tsl-umd',
  isExternal: true,
  settingsSchema,
  durations: ['refresh', 'spacing', 'connectTimeout', 'idleTimeout', 'hold'],
  isKept: true,
  parameters: declarationsOf,
  mistakes: (settings) => displaysOf(settings).mistakes,
  claims: (settings) => {
    const place = listenPlace(settings);
    if (place === undefined) return [];
    return (settings.tcpListen === undefined ? claimUdpPort : claimTcpPort)(place.port, place.host);
  },
  isSimulated: ({ simulate }) => simulate,
  showFrame: showPacket,
  played: { messages: playedMessages, run },
  run: (context) => (context.settings.simulate ? simulate() : run(context)),
});

/** Runs the connection over `played`, a test's transport, or otherwise over the transports in the settings. */
function run(context: ConnectionContext<TslSettings>, played?: Transport): Observable<ConnectionEvent> {
  return isReceiving(context.settings) ? receive(context, played) : send(context, played);
}

function simulate(): Observable<ConnectionEvent> {
  return new Observable((subscriber) => subscriber.next({ state: 'running' }));
}

function receive(context: ConnectionContext<TslSettings>, played?: Transport): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, scheduler, log, turn, own } = context;
    const { version, idleTimeout, packetsPerSecond, connectTimeout } = settings;
    const displays = displaysOf(settings).list;
    const byPlace = new Map(displays.map((display) => [placeOf(display), display]));
    let isRunning = false;
    let second = Number.NEGATIVE_INFINITY;
    let taken = 0;

    const refuse: Refuse = (bytes, reason) => {
      context.wire('in', bytes, reason);
      log.warn({}, `rejected a packet: ${reason}`, `refused: ${reason}`);
    };
    const loss = new Loss(settings, scheduler, () =>
      turn(() => {
        for (const { parts } of displays) for (const [, id] of parts) subscriber.next({ unset: id });
      }),
    );
    const goOnline = () => {
      isRunning = true;
      link.prove();
      loss.end();
      subscriber.next({ state: 'running' });
      subscriber.next({ stale: false });
    };
    const apply = (display: Display, { parts }: OwnDisplay) => {
      for (const [part, id] of parts) {
        const value = display.values[part];
        const parameter = own(id);
        if (value === undefined || parameter?.value === value) continue;
        subscriber.next({ set: id, own: parameter, value });
      }
    };
    const take = (display: Display) => {
      if (display.index === everywhere || display.screen === everywhere) {
        for (const one of displays)
          if (doesMeet(display.screen, one.screen) && doesMeet(display.index, one.index)) apply(display, one);
        return;
      }
      const known = byPlace.get(placeOf(display));
      if (known !== undefined) apply(display, known);
      else log.debug({}, `no display is configured for ${placeOf(display)}`, 'no display');
    };

    const transport = played ?? receivingTransport(settings, refuse);
    const link: DeviceLink = new DeviceLink(
      {
        transports: [transport],
        connectTimeoutMs: connectTimeout,
        idleTimeoutMs: idleTimeout,
        hearsOnlyReported: true,
        scheduler,
        ...(played && { random: () => 1 }),
      },
      {
        opened: () => {
          if (idleTimeout === undefined) goOnline();
        },
        received: (chunk) => {
          const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
          const now = scheduler.now();
          if (now - second >= 1000) {
            second = now;
            taken = 0;
          }
          if (++taken > packetsPerSecond) {
            refuse(bytes, `expected at most ${packetsPerSecond} packets per second`);
            return;
          }
          const packet = decodePacket(settings.listen === undefined ? bytes : unwrapDatagram(bytes));
          if (typeof packet === 'string') refuse(bytes, packet);
          else if (packet.version !== version) refuse(bytes, `expected version ${version}, got ${packet.version}`);
          else {
            context.wire('in', bytes);
            link.hear();
            if (!isRunning) goOnline();
            turn(() => {
              for (const display of packet.displays) take(display);
            });
          }
        },
        ended: (reason) => {
          isRunning = false;
          subscriber.next({ state: 'degraded', reason: `${transport.name}: ${reason}` });
          subscriber.next({ stale: true });
          loss.begin();
          return 0;
        },
      },
    );
    link.start();
    return () => {
      loss.end();
      context.finish(link.stop());
    };
  });
}

function send(context: ConnectionContext<TslSettings>, played?: Transport): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, scheduler, own } = context;
    const { version, spacing, refresh, connectTimeout } = settings;
    const displays = displaysOf(settings).list;
    const written = new Set<OwnDisplay>();
    const open = new Set<Sender>();
    const reasons = new Map<Sender, string>();

    const report = () => {
      const [first, ...others] = reasons.values();
      if (first === undefined) {
        if (open.size === transports.length) subscriber.next({ state: 'running' });
      } else {
        const more = others.length === 0 ? '' : `, and ${others.length} more`;
        subscriber.next({ state: 'degraded', reason: `${first}${more}` });
      }
    };
    const read = ({ screen, index, parts }: OwnDisplay): Display | undefined => {
      const values = Object.fromEntries(parts.map(([part, id]) => [part, own(id)?.value]));
      return Object.values(values).every((value) => value === undefined) ? undefined : { screen, index, values };
    };
    const transports = played === undefined ? sendingTransports(settings) : [played];
    const senders = transports.map((transport) => {
      const sender: Sender = new Sender(
        {
          ...{ transport, version, displays, scheduler, read },
          ...{ spacingMs: spacing, refreshMs: refresh, connectTimeoutMs: connectTimeout },
          ...(played && { random: () => 1 }),
        },
        {
          running: () => {
            reasons.delete(sender);
            open.add(sender);
            report();
          },
          away: (reason) => {
            open.delete(sender);
            reasons.set(sender, `${transport.name}: ${reason}`);
            report();
          },
          wire: (bytes) => context.wire('out', bytes),
        },
      );
      return sender;
    });
    const flush = context.atSettle(() => {
      for (const display of written) for (const sender of senders) sender.change(display);
      written.clear();
    });
    const writing = displays.flatMap((display) =>
      display.parts.map(([, id]) =>
        context.inbox(id).subscribe({
          next: () => {
            written.add(display);
            if (written.size === 1) flush();
          },
          error: (error) => subscriber.error(error),
        }),
      ),
    );
    for (const sender of senders) sender.start();
    return () => {
      for (const one of writing) one.unsubscribe();
      context.finish(Promise.all(senders.map((sender) => sender.stop())));
    };
  });
}

function placeOf({ screen, index }: Pick<Display, 'screen' | 'index'>): string {
  return `${screen}/${index}`;
}

function doesMeet(received: number, own: number): boolean {
  return received === everywhere || received === own;
}

function receivingTransport(settings: TslSettings, refuse: Refuse): Transport {
  const { version, framing, tcpListen, allowFrom } = settings;
  const options = { bind: listenPlace(settings)!, refuse, guard: createGuard(allowFrom) };
  return tcpListen === undefined
    ? new UdpPort({ ...options, places: [] })
    : new TcpPort({ ...options, framing: framingOf(version, framing), idleTimeoutMs: undefined });
}

function sendingTransports({ udp, tcp, version, framing }: TslSettings): readonly Transport[] {
  const { wrap } = framingOf(version, framing);
  const places = [udp ?? tcp ?? []].flat().map(readPlace);
  if (tcp === undefined) return places.map(({ host, port }) => udpTransport(host, port));
  return places.map((place) => tcpClient(place, { createFramer: () => ({ push: () => [] }), wrap }, () => {}));
}

/** The converters for the packets in tests, which have the text format of `patchbay wire`: `1 "CAM 1" lh=red brightness=3`. */
function playedMessages(settings: TslSettings): PlayedMessages {
  const { version } = settings;
  return playedPackets(isReceiving(settings), showPacket, (text) => encodePacket(version, readDisplays(text)).bytes);
}
