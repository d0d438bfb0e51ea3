// The connection type `satellite`. Stream Decks and other surfaces that use the Companion Satellite protocol connect to the hub. Their keys
// show texts, colours and images from parameters, and each key press is reported as a parameter.

import { Observable } from 'rxjs';
import { ReadingRounds } from '../../device/paced-reader.ts';
import type { Transport } from '../../device/transport.ts';
import { claimTcpPort } from '../claim.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType, playedPackets } from '../connection.ts';
import { createGuard } from '../places.ts';
import type { KeyFace } from './drawing.ts';
import { showLine } from './lines.ts';
import { type Link, type LinkEvents, listenTcp, listenWebSocket, maxLinks, type SurfacePort } from './links.ts';
import { SatelliteSession } from './session.ts';
import {
  declarationsOf,
  idOf,
  listenPlaces,
  type OwnKey,
  pictureOf,
  type SatelliteSettings,
  settingsSchema,
  shownParts,
  surfacesOf,
} from './settings.ts';

export const satellite = defineConnectionType({
  type: 'satellite',
  isExternal: true,
  settingsSchema,
  durations: ['idleTimeout'],
  isKept: true,
  parameters: declarationsOf,
  mistakes: (settings) => surfacesOf(settings).mistakes,
  claims: (settings) =>
    Object.values(listenPlaces(settings)).flatMap((place) =>
      place === undefined ? [] : claimTcpPort(place.port, place.host),
    ),
  isSimulated: ({ simulate }) => simulate,
  showFrame: showLine,
  played: {
    messages: () => playedPackets(true, showLine, (text) => Buffer.from(`${text}\n`)),
    run,
  },
  run: (context) => run(context),
});

/** Runs the connection. `played` is a test's transport; without `played`, the connection listens on the ports in the settings. */
function run(context: ConnectionContext<SatelliteSettings>, played?: Transport): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, scheduler, own, log } = context;
    const { list } = surfacesOf(settings);
    const session = new SatelliteSession(
      {
        surfaces: list,
        idleTimeoutMs: settings.idleTimeout,
        scheduler,
        isPlayed: played !== undefined,
        faceOf: faceReader(own),
        brightnessOf: (surface) => (own(`${surface.id}/brightness`)?.value ?? surface.brightness) as number,
      },
      {
        set: (id, value) => {
          const parameter = own(id);
          if (parameter?.type === 'T' || parameter?.value !== value)
            subscriber.next({ set: id, own: parameter, value });
        },
        connected: (surface, isConnected) =>
          context.turn(() => {
            subscriber.next({ stale: !isConnected, device: surface.id });
            subscriber.next({ set: `${surface.id}/connected`, value: isConnected });
            if (!isConnected) return;
            for (const key of surface.keys) {
              const parameter = own(idOf(key, 'pressed'));
              if (parameter?.value === undefined)
                subscriber.next({ set: idOf(key, 'pressed'), own: parameter, value: false, isRestored: true });
            }
          }),
        wire: (direction, bytes, fault) => context.wire(direction, bytes, fault),
        log: (message, kind) => log.warn({}, message, kind),
      },
    );
    const changed = new Set<OwnKey>();
    const flush = context.atSettle(() => {
      for (const key of changed) session.change(key);
      changed.clear();
      session.draw();
    });
    const writing = list.flatMap((surface) => [
      context.inbox(`${surface.id}/brightness`).subscribe({
        next: (value) => session.setBrightness(surface, value as number),
        error: (error) => subscriber.error(error),
      }),
      ...surface.keys.flatMap((key) =>
        shownParts(key).map((part) =>
          context.inbox(idOf(key, part)).subscribe({
            next: () => {
              changed.add(key);
              if (changed.size === 1) flush();
            },
            error: (error) => subscriber.error(error),
          }),
        ),
      ),
    ]);
    const refuse = (reason: string) => {
      context.wire('in', new Uint8Array(), reason);
      log.warn({}, `rejected a link: ${reason}`, `refused: ${reason}`);
    };
    const guard = createGuard(settings.allowFrom);
    const whyNot = (address: string) => {
      if (guard?.(address.replace(/^::ffff:/, '')) === false) return 'expected a surface from an allowed address';
      return session.linkCount >= maxLinks ? `expected at most ${maxLinks} links` : undefined;
    };
    let isStopped = false;
    const goOnline = () => {
      if (isStopped) return;
      subscriber.next({ state: 'running' });
      for (const surface of list) {
        subscriber.next({ stale: true, device: surface.id });
        subscriber.next({ set: `${surface.id}/connected`, value: false });
      }
    };
    const closing = settings.simulate
      ? simulate(goOnline)
      : played === undefined
        ? listen(
            settings,
            { rounds: new ReadingRounds(), whyNot, refuse, accept: (link) => session.join(link) },
            goOnline,
            (error) => {
              if (!isStopped) subscriber.error(error);
            },
          )
        : play(played, (link) => session.join(link), goOnline);
    return () => {
      isStopped = true;
      for (const one of writing) one.unsubscribe();
      session.stop();
      context.finish(closing());
    };
  });
}

/** Returns a function that reads from the parameters what a key shows. The parameters of a key are looked up only once. */
function faceReader(own: ConnectionContext<SatelliteSettings>['own']): (key: OwnKey) => KeyFace {
  const known = new Map<OwnKey, ReturnType<typeof parametersOf>>();
  const parametersOf = (key: OwnKey) => ({
    text: own(idOf(key, 'text')),
    color: own(idOf(key, 'color')),
    textColor: own(idOf(key, 'textColor')),
    lamp: own(idOf(key, 'lamp')),
    image: key.hasImage ? own(idOf(key, 'image')) : undefined,
  });
  return (key) => {
    let parameters = known.get(key);
    if (parameters === undefined) {
      parameters = parametersOf(key);
      known.set(key, parameters);
    }
    const { text, color, textColor, lamp, image } = parameters;
    return {
      text: String(text?.value ?? ''),
      color: lamp?.value === true ? key.lampColor : String(color?.value ?? key.color),
      textColor: String(textColor?.value ?? key.textColor),
      picture: typeof image?.value === 'string' && image.value !== '' ? pictureOf(image.value) : undefined,
    };
  };
}

/** Opens the ports in the settings and returns a function that closes them. */
function listen(
  settings: SatelliteSettings,
  options: Omit<Parameters<typeof listenTcp>[0], 'place'>,
  opened: () => void,
  failed: (error: unknown) => void,
): () => Promise<void> {
  const { tcp, webSocket } = listenPlaces(settings);
  const ports = Promise.allSettled([
    ...(tcp === undefined ? [] : [listenTcp({ ...options, place: tcp })]),
    ...(webSocket === undefined ? [] : [listenWebSocket({ ...options, place: webSocket })]),
  ]);
  const closeAll = async () => {
    const open = (await ports).flatMap((port) => (port.status === 'fulfilled' ? [port.value] : []));
    await Promise.all(open.map((port: SurfacePort) => port.close()));
  };
  void ports.then((results) => {
    const refused = results.find((port) => port.status === 'rejected');
    if (refused === undefined) opened();
    else failed(refused.reason);
  });
  return closeAll;
}

function simulate(opened: () => void): () => Promise<void> {
  opened();
  return async () => {};
}

/** Connects a surface that a test simulates. */
function play(transport: Transport, join: (link: Link) => LinkEvents, opened: () => void): () => Promise<void> {
  let events: LinkEvents | undefined;
  const sending = transport.open({
    opened: () => {
      opened();
      events = join({
        name: transport.name,
        unsentBytes: 0,
        send: (...line) => sending.send(Buffer.concat(line.map((part) => Buffer.from(part as string)))),
        end: () => sending.end(),
      });
    },
    received: (bytes) => events?.received(Buffer.from(bytes)),
    closed: () => events?.closed(),
  });
  return async () => sending.end();
}
