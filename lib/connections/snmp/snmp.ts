// The connection type `snmp`: reads, walks and writes objects of network devices, power supplies and other machines over SNMPv2c and
// SNMPv3, and receives their traps and informs.

import { Observable, Subscription } from 'rxjs';
import { readFirst } from '../../device/ber.ts';
import { type Transport, udpTransport } from '../../device/transport.ts';
import { HubError } from '../../model/error.ts';
import type { Change, ParameterDeclaration } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType, playedPackets } from '../connection.ts';
import { Loss } from '../loss.ts';
import { readPlace } from '../places.ts';
import { SnmpClient } from './client.ts';
import { bare, communityEnvelope, type Envelope, UserSession } from './envelope.ts';
import {
  decodeOid,
  decodePdu,
  integerOf,
  ipOf,
  readMessage,
  showMessage,
  tags,
  textOf,
  type Varbind,
} from './message.ts';
import { acceptValue, declarationOf, decodeValue, expectedOf, type Item, itemsOf } from './objects.ts';
import { type SnmpSettings, settingsSchema } from './settings.ts';
import { notificationOf, TrapReceiver } from './traps.ts';
import { User } from './usm.ts';

export const snmp = defineConnectionType({
  type: 'snmp',
  isExternal: true,
  settingsSchema,
  durations: ['every', 'timeout', 'hold'],
  parameters: (settings, resolvePath) =>
    [...itemsOf(settings).list, ...expectedOf(settings, resolvePath).items].map((item) => declarationOf(item)),
  mistakes: (settings, _, resolvePath) => [
    ...itemsOf(settings).mistakes,
    ...expectedOf(settings, resolvePath).mistakes,
  ],
  files: ({ expect }, resolvePath) => (typeof expect === 'string' ? [resolvePath(expect)] : []),
  secrets: secretsOf,
  isSimulated: ({ simulate }) => simulate,
  showFrame: showMessage,
  played: { messages: ({ udp }) => playedPackets(udp === undefined, showMessage, readMessage), run },
  run: (context) => (context.settings.simulate ? simulate(context) : run(context)),
});

/** Well-known communities, which logs need not mask. */
const wellKnown = ['public', 'private'];

function secretsOf({ community, user, traps }: SnmpSettings): readonly string[] {
  const all = [community, user?.password, user?.privPassword];
  const ofTraps = [traps?.community, traps?.user?.password, traps?.user?.privPassword];
  return [...all, ...ofTraps].filter(
    (text): text is string => text !== undefined && text !== '' && !wellKnown.includes(text),
  );
}

/** The minimum interval between two reads of everything that notifications cause, in milliseconds. */
const readPauseMs = 1000;

/** Runs the connection over a test's transport or, by default, over the transports in the settings. */
function run(context: ConnectionContext<SnmpSettings>, played?: Transport): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, scheduler, log, turn, own, atSettle, resolvePath } = context;
    const { list, tables } = itemsOf(settings);
    const expected = new Map(expectedOf(settings, resolvePath).items.map((item) => [item.id, item]));
    const wire: typeof context.wire = (direction, bytes, fault) => context.wire(direction, bytes, fault);
    const emit = (event: ConnectionEvent) => subscriber.next(event);
    /** The items of all current rows, which can be written. */
    const rows = new Map<string, Item>();
    const loss = new Loss(settings, scheduler, () =>
      turn(() => {
        for (const { id, type } of [...list, ...rows.values()]) if (type !== 'T') emit({ unset: id });
      }),
    );
    const reasons: { client: string | undefined; traps: string | undefined; isReady: boolean } = {
      ...{ client: undefined, traps: undefined },
      isReady: settings.udp === undefined,
    };
    let isPortOpen = settings.traps === undefined || (played !== undefined && settings.udp !== undefined);
    const report = () => {
      const reason = reasons.client ?? reasons.traps;
      if (reason !== undefined) emit({ state: 'degraded', reason });
      else if (reasons.isReady && isPortOpen) emit({ state: 'running' });
    };
    const set = ({ id }: Item, value: Value | undefined, because: Change | undefined) => {
      const parameter = own(id);
      if (value === undefined) {
        if (parameter?.value !== undefined) emit({ unset: id });
      } else if (because !== undefined) emit({ set: id, own: parameter, value, because });
      else if (parameter?.value !== value) emit({ set: id, own: parameter, value });
    };

    const client =
      settings.udp === undefined
        ? undefined
        : new SnmpClient(
            {
              ...{ settings, items: list, tables, scheduler, log, atSettle },
              transports: played === undefined ? transportsOf(settings) : [played],
              envelope: played === undefined ? envelopeOf(context) : bare,
              ...(played && { random: () => 1, notified: (bytes: Buffer) => takePlayed(bytes) }),
            },
            {
              ...{ set, wire, turn },
              settle: (settle, error) => emit({ settle, error }),
              rows: (found, gone) => {
                const withdrawn = gone.filter((id) => !expected.has(id));
                for (const id of gone) rows.delete(id);
                turn(() => {
                  for (const id of gone) if (expected.has(id)) emit({ unset: id });
                });
                if (withdrawn.length > 0) emit({ withdraw: withdrawn });
                for (const id of withdrawn) stopWriting(id);
                if (found.length === 0) return;
                for (const [item] of found) rows.set(item.id, item);
                emit({ declare: found.map(([item, label]) => declaredRow(item, label)) });
                for (const [item] of found) allowWriting(item);
              },
              online: () => {
                loss.end();
                emit({ stale: false });
              },
              offline: () => {
                emit({ stale: true });
                loss.begin();
              },
              state: (reason) => {
                reasons.client = reason;
                reasons.isReady ||= reason === undefined;
                report();
              },
            },
          );

    let readMs = Number.NEGATIVE_INFINITY;
    let reading = Subscription.EMPTY;
    const readAll = () => {
      readMs = scheduler.now();
      client?.readAll();
    };
    const notified = (oid: string, varbinds: readonly Varbind[]) => {
      turn(() => {
        for (const item of list) {
          const value = valueIn(item, oid, varbinds);
          if (value !== undefined) emit({ set: item.id, own: own(item.id), value });
        }
        client?.notified(varbinds);
      });
      const pauseMs = readMs + readPauseMs - scheduler.now();
      if (pauseMs <= 0) readAll();
      else if (reading.closed) reading = scheduler.schedule(readAll, pauseMs);
    };
    const takePlayed = (bytes: Buffer): boolean => {
      const notification = notificationOf(decodePdu(readFirst(bytes)));
      if (typeof notification === 'string') return false;
      wire('in', bytes);
      notified(notification.oid, notification.varbinds);
      return true;
    };
    const receiver =
      settings.traps === undefined || (played !== undefined && client !== undefined)
        ? undefined
        : new TrapReceiver(
            { id: context.id, settings, scheduler, log, wire, timeOfDay: () => context.timeOfDay(), played },
            {
              notified,
              state: (reason) => {
                reasons.traps = reason;
                isPortOpen ||= reason === undefined;
                report();
                if (client === undefined) emit({ stale: reason !== undefined });
              },
            },
          );

    const writing = new Map<string, { unsubscribe(): void }>();
    const stopWriting = (id: string) => {
      writing.get(id)?.unsubscribe();
      writing.delete(id);
    };
    const accept = (item: Item, input: unknown): Value => {
      client?.expectOnline(item);
      if (expected.has(item.id) && !rows.has(item.id))
        throw new HubError('unavailable', `${item.id}: the device has not reported this row`);
      return acceptValue(item, input);
    };
    const declaredRow = (item: Item, label: string | undefined): ParameterDeclaration => ({
      ...declarationOf(item, label),
      ...(item.access !== 'read-only' && { accept: (input: unknown) => accept(item, input) }),
    });
    const allowWriting = (item: Item) => {
      const { id, access } = item;
      if (access === 'read-only' || writing.has(id) || client === undefined) return;
      const one = context
        .inbox(id, (input) => accept(item, input))
        .subscribe({
          next: (value) => client.write(rows.get(id) ?? item, value, context.cause()),
          error: (error) => subscriber.error(error),
        });
      writing.set(id, one);
    };
    for (const item of [...list, ...expected.values()]) allowWriting(item);
    client?.start();
    receiver?.start();
    return () => {
      loss.end();
      reading.unsubscribe();
      for (const id of [...writing.keys()]) stopWriting(id);
      context.finish(Promise.all([client?.stop(), receiver?.stop()]));
    };
  });
}

function transportsOf({ udp, hosts }: SnmpSettings): readonly Transport[] {
  return [udp!, ...hosts].map((written) => {
    const { host, port } = readPlace(written);
    return udpTransport(host, port);
  });
}

function envelopeOf({ settings, scheduler }: ConnectionContext<SnmpSettings>): Envelope {
  const { community, user } = settings;
  return user === undefined ? communityEnvelope(community!) : new UserSession(new User(user), () => scheduler.now());
}

/** Returns the value that a notification gives to an item; undefined if the notification does not concern the item. */
function valueIn(item: Item, oid: string, varbinds: readonly Varbind[]): Value | undefined {
  const { trap } = item;
  if (trap === undefined || !trap.values.has(oid)) return undefined;
  const find = (wanted: string) => varbinds.find((one) => one.oid === wanted || one.oid.startsWith(`${wanted}.`));
  for (const [object, text] of trap.where) {
    const varbind = find(object);
    if (varbind === undefined || plainText(varbind) !== text) return undefined;
  }
  if (item.oid === '') return trap.values.get(oid) ?? 1;
  const varbind = find(item.oid);
  return varbind && decodeValue(item, varbind).value;
}

function plainText(varbind: Varbind): string | undefined {
  const { tag, bytes } = varbind;
  if (tag === tags.octets) return textOf(bytes);
  return integerOf(varbind)?.toString() ?? (tag === tags.oid ? decodeOid(bytes) : ipOf(bytes));
}

/** Runs without a device, and confirms every write immediately. */
function simulate(context: ConnectionContext<SnmpSettings>): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const items = [...itemsOf(context.settings).list, ...expectedOf(context.settings, context.resolvePath).items];
    const writing = items
      .filter(({ access }) => access !== 'read-only')
      .map(({ id, isConfirmed }) =>
        context.inbox(id).subscribe({
          next: (value) => {
            if (isConfirmed) subscriber.next({ set: id, value, because: context.cause() });
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
