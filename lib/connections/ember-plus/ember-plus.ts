// The connection type `ember-plus`: mirrors a provider's tree, or shows parameters of the hub to consumers as a tree.

import { Observable } from 'rxjs';
import { DeviceLink } from '../../device/link.ts';
import { type Refuse, type Sender, TcpPort, tcpClient } from '../../device/ports.ts';
import type { Transport } from '../../device/transport.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { isJsonObject } from '../../model/json-object.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { claimTcpPort } from '../claim.ts';
import {
  type ConnectionContext,
  type ConnectionEvent,
  type DeclaredAddresses,
  defineConnectionType,
  playedPackets,
} from '../connection.ts';
import { readExpected } from '../expected.ts';
import type { HubPort } from '../hub-port.ts';
import { Loss } from '../loss.ts';
import { createGuard, isLoopback, readPlace } from '../places.ts';
import type { ResolvePath, SettingHint } from '../setting.ts';
import { Consumer } from './consumer.ts';
import { Provider } from './provider.ts';
import { maxMessageBytes, maxRequestBytes, s101Framing } from './s101.ts';
import { type EmberPlusSettings, listenPlace, roleMistakes, settingsSchema, targetsOf } from './settings.ts';
import { readMessage, showMessage } from './text.ts';

export const emberPlus = defineConnectionType({
  type: 'ember-plus',
  isExternal: true,
  settingsSchema,
  durations: ['timeout', 'streamEvery', 'connectTimeout', 'idleTimeout', 'hold'],
  parameters: (settings, resolvePath) =>
    [...expectedOf(settings, resolvePath).values()].map(
      ({ id, type }): ParameterDeclaration => ({
        id,
        type,
        access: 'read-write',
        ...(type !== 'T' && { isConfirmed: true }),
      }),
    ),
  mistakes: (settings, _, resolvePath) => [
    ...roleMistakes(settings),
    ...readExpected(settings.expect, resolvePath, parameterIdMistake).mistakes,
  ],
  files: ({ expect }, resolvePath) => (typeof expect === 'string' ? [resolvePath(expect)] : []),
  claims: (settings) => {
    const place = listenPlace(settings);
    return place === undefined ? [] : claimTcpPort(place.port, place.host);
  },
  hints: hintsOf,
  isSimulated: ({ simulate }) => simulate,
  showFrame: showMessage,
  played: {
    messages: ({ listen }) => playedPackets(listen !== undefined, showMessage, readMessage),
    run: (context, transport) => (isProvider(context) ? idle() : consume(context, transport)),
  },
  run: (context, hub) => {
    if (context.settings.simulate) return simulate(context);
    if (!isProvider(context)) return consume(context);
    return hub === undefined ? idle() : provide(context, hub);
  },
});

function isProvider({ settings }: ConnectionContext<EmberPlusSettings>): boolean {
  return settings.listen !== undefined;
}

function expectedOf({ expect }: EmberPlusSettings, resolvePath: ResolvePath) {
  return new Map(readExpected(expect, resolvePath, parameterIdMistake).list.map((one) => [one.id, one]));
}

/** Mirrors a provider. `played` is a test's transport; without `played`, the settings determine the transports. */
function consume(context: ConnectionContext<EmberPlusSettings>, played?: Transport): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, scheduler, resolvePath } = context;
    const refuse = refuseOf(context);
    const framing = s101Framing(maxMessageBytes);
    const places = [settings.tcp!, ...settings.hosts];
    const transports =
      played === undefined ? places.map((place) => tcpClient(readPlace(place), framing, refuse)) : [played];
    const emit = (event: ConnectionEvent) => subscriber.next(event);
    const loss = new Loss(settings, scheduler, () => consumer.forget());
    const consumer = new Consumer({
      ...{ context, transports, emit },
      expected: new Map([...expectedOf(settings, resolvePath)].map(([id, { type }]) => [id, type])),
      running: () => {
        loss.end();
        emit({ state: 'running' });
        emit({ stale: false });
      },
      away: (reason) => {
        emit({ state: 'degraded', reason: `${transports[0]!.name}: ${reason}` });
        emit({ stale: true });
        loss.begin();
      },
      ...(played && { random: () => 1 }),
    });
    consumer.start();
    return () => {
      loss.end();
      context.finish(consumer.stop());
    };
  });
}

/** The name of the store item that contains the element numbers that this hub has assigned as a provider. */
const memoryName = 'numbers';

/** Shows parameters of the hub to consumers. */
function provide(context: ConnectionContext<EmberPlusSettings>, hub: HubPort): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, scheduler, memory } = context;
    const refuse = refuseOf(context);
    const numbers = numbersOf(context.left ?? memory?.recalled.get(memoryName));
    const keep = () => memory?.changed(memoryName, () => Object.fromEntries(numbers));
    let provider: Provider | undefined;
    const port = new TcpPort({
      ...{ bind: listenPlace(settings)!, refuse, guard: createGuard(settings.allowFrom) },
      ...{ framing: s101Framing(maxRequestBytes), idleTimeoutMs: undefined },
      joined: (sender: Sender) => provider?.joined(sender),
      left: (sender: Sender) => provider?.left(sender),
    });
    const link: DeviceLink = new DeviceLink(
      { transports: [port], connectTimeoutMs: settings.connectTimeout, idleTimeoutMs: undefined, scheduler },
      {
        opened: () => {
          link.prove();
          provider ??= new Provider({ context, hub, numbers, numbered: keep });
          subscriber.next({ state: 'running' });
          subscriber.next({ stale: false });
        },
        received: (bytes) => {
          const packet = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
          const reason = provider?.take(packet, port.sender!);
          if (reason !== undefined) refuse(packet, reason);
        },
        ended: (reason) => {
          subscriber.next({ state: 'degraded', reason: `${port.name}: ${reason}` });
          return 0;
        },
      },
    );
    link.start();
    return () => {
      provider?.stop();
      context.leave(Object.fromEntries(numbers));
      context.finish(link.stop());
    };
  });
}

/** Returns the element numbers from an earlier run, by key. Entries that are not positive integers are ignored. */
function numbersOf(kept: unknown): Map<string, number> {
  if (!isJsonObject(kept)) return new Map();
  return new Map(
    Object.entries(kept).filter(
      (entry): entry is [string, number] => Number.isSafeInteger(entry[1]) && Number(entry[1]) > 0,
    ),
  );
}

function refuseOf(context: ConnectionContext<EmberPlusSettings>): Refuse {
  return (bytes, reason) => {
    context.wire('in', bytes, reason);
    context.log.warn({}, `rejected a message: ${reason}`, 'rejected message'); // the reason contains numbers from outside
  };
}

/** Runs the connection without a network and confirms every write immediately. */
function simulate(context: ConnectionContext<EmberPlusSettings>): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const writing = [...expectedOf(context.settings, context.resolvePath).values()].map(({ id, type }) =>
      context.inbox(id).subscribe({
        next: (value) => {
          if (type !== 'T') subscriber.next({ set: id, value, because: context.cause() });
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

/** Runs a provider that has no hub and therefore shows no parameters. */
function idle(): Observable<ConnectionEvent> {
  return new Observable((subscriber) => subscriber.next({ state: 'running' }));
}

function hintsOf(settings: EmberPlusSettings, declared: DeclaredAddresses): readonly SettingHint[] {
  const hints: SettingHint[] = [];
  const { read, write, matrices, allowFrom } = settings;
  const place = listenPlace(settings);
  if (place === undefined) return hints;
  if (read.length + write.length + Object.keys(matrices).length === 0)
    hints.push({ path: [], message: 'the provider shows nothing; set `read`, `write` or `matrices`' });
  const found = declared();
  const addresses = found === undefined ? undefined : new Set(found);
  for (const [name, matrix] of Object.entries(matrices)) {
    const targets = targetsOf(matrix);
    const missing = typeof targets === 'string' ? undefined : targets.find((one) => addresses?.has(one) === false);
    if (missing !== undefined)
      hints.push({ path: ['matrices', name, 'targets'], message: `there is no parameter ${missing}` });
  }
  if ((write.length > 0 || Object.keys(matrices).length > 0) && allowFrom.length === 0 && !isLoopback(place.host))
    hints.push({
      path: [write.length > 0 ? 'write' : 'matrices'],
      message: 'anyone who can reach the port can write these parameters; set allowFrom',
    });
  return hints;
}
