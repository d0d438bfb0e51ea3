// The connection type `modbus`. As a client, the hub accesses registers and coils in PLCs, meters, drives and converters over TCP and RTU.
// As a server, it offers parameters of the hub as registers to other clients.

import { Observable, Subscription } from 'rxjs';
import { DeviceLink } from '../../device/link.ts';
import { type Framing, type Refuse, type Sender, TcpPort, tcpClient } from '../../device/ports.ts';
import { serialTransport, type Transport, tcpTransport } from '../../device/transport.ts';
import { claimFile, claimTcpPort } from '../claim.ts';
import {
  type ConnectionContext,
  type ConnectionEvent,
  defineConnectionType,
  type PlayedMessages,
  playedPackets,
} from '../connection.ts';
import { Loss } from '../loss.ts';
import { createGuard, readPlace } from '../places.ts';
import { ModbusClient } from './client.ts';
import { decodeFrame, encodeFrame, MbapFramer, type Mode, RtuFramer, readFrame, showFrame } from './frame.ts';
import { acceptValue, declarationsOf, type Item, itemsOf, unitName } from './registers.ts';
import { ModbusServer } from './server.ts';
import { isServer, listenPlace, type ModbusSettings, modeOf, serialTarget, settingsSchema } from './settings.ts';

export const modbus = defineConnectionType({
  type: 'modbus',
  isExternal: true,
  settingsSchema,
  durations: ['every', 'timeout', 'spacing', 'connectTimeout', 'idleTimeout', 'hold'],
  parameters: declarationsOf,
  mistakes: (settings) => itemsOf(settings).mistakes,
  claims: (settings) => {
    const place = listenPlace(settings);
    const serial = serialTarget(settings);
    if (serial !== undefined) return claimFile(serial.path);
    return place === undefined ? [] : claimTcpPort(place.port, place.host);
  },
  isSimulated: ({ simulate }) => simulate,
  showFrame,
  played: { messages: playedMessages, run },
  run: (context) => (context.settings.simulate ? simulate(context) : run(context)),
});

const mbap: Framing = { createFramer: () => new MbapFramer(), wrap: (frame) => frame };

/** Runs the connection over `played`, a test's transport, or otherwise over the transports in the settings. */
function run(context: ConnectionContext<ModbusSettings>, played?: Transport): Observable<ConnectionEvent> {
  return isServer(context.settings) ? serve(context, played) : connect(context, played);
}

/** Tracks which parameters are stale. If there are several units, each unit is tracked separately. */
function createLosses(
  { settings, scheduler, turn }: ConnectionContext<ModbusSettings>,
  emit: (event: ConnectionEvent) => void,
) {
  const { list, hasSeveralUnits } = itemsOf(settings);
  const losses = new Map<number, Loss>();
  for (const { unitId } of list)
    if (!losses.has(unitId))
      losses.set(
        unitId,
        new Loss(settings, scheduler, () =>
          turn(() => {
            for (const item of list) if (item.unitId === unitId || !hasSeveralUnits) emit({ unset: item.id });
          }),
        ),
      );
  const mark = (stale: boolean, unitId: number) =>
    emit({ stale, ...(hasSeveralUnits && { device: unitName(unitId) }) });
  return {
    online(unitId: number) {
      losses.get(unitId)?.end();
      mark(false, unitId);
    },
    offline(unitId: number) {
      mark(true, unitId);
      losses.get(unitId)?.begin();
    },
    stop() {
      for (const loss of losses.values()) loss.end();
    },
  };
}

function connect(context: ConnectionContext<ModbusSettings>, played?: Transport): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, scheduler, log, turn, own, atSettle } = context;
    const { list } = itemsOf(settings);
    const refuse: Refuse = (bytes, reason) => {
      context.wire('in', bytes, reason);
      log.warn({}, `rejected a frame: ${reason}`, `refused: ${reason}`);
    };
    const mode: Mode = played === undefined ? modeOf(settings) : 'rtu';
    const losses = createLosses(context, (event) => subscriber.next(event));
    const client = new ModbusClient(
      {
        ...{ settings, items: list, mode, scheduler, log, atSettle },
        transports: played === undefined ? transportsOf(settings, refuse) : [played],
        ...(played && { random: () => 1 }),
      },
      {
        set: ({ id }, value, because) => {
          const parameter = own(id);
          if (value === undefined) {
            if (parameter?.value !== undefined) subscriber.next({ unset: id });
          } else if (because !== undefined) subscriber.next({ set: id, own: parameter, value, because });
          else if (parameter?.value !== value) subscriber.next({ set: id, own: parameter, value });
        },
        settle: (settle, error) => subscriber.next({ settle, error }),
        online: (unitId) => losses.online(unitId),
        offline: (unitId) => losses.offline(unitId),
        state: (reason) => subscriber.next(reason === undefined ? { state: 'running' } : { state: 'degraded', reason }),
        wire: (direction, bytes, fault) => context.wire(direction, bytes, fault),
        turn,
      },
    );
    const writing = writable(list).map((item) =>
      context
        .inbox(item.id, (input) => {
          client.expectOnline(item);
          return acceptValue(item, input);
        })
        .subscribe({
          next: (value) => client.write(item, value, context.cause()),
          error: (error) => subscriber.error(error),
        }),
    );
    client.start();
    return () => {
      losses.stop();
      for (const one of writing) one.unsubscribe();
      context.finish(client.stop());
    };
  });
}

function serve(context: ConnectionContext<ModbusSettings>, played?: Transport): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, scheduler, log, turn, own } = context;
    const { idleTimeout, requestsPerSecond, connectTimeout } = settings;
    const { list, hasSeveralUnits } = itemsOf(settings);
    const unitIds = [...new Set(list.map(({ unitId }) => unitId))];
    const mode: Mode = played === undefined ? modeOf(settings) : 'rtu';
    const losses = createLosses(context, (event) => subscriber.next(event));
    let isRunning = false;
    let second = Number.NEGATIVE_INFINITY;
    let taken = 0;
    let heardMs = 0;

    const refuse: Refuse = (bytes, reason) => {
      context.wire('in', bytes, reason);
      log.warn({}, `rejected a frame: ${reason}`, `refused: ${reason}`);
    };
    const server = new ModbusServer({
      items: list,
      answersAnyUnit: mode === 'tcp' && !hasSeveralUnits,
      read: ({ id }) => own(id)?.value,
      write: (values) =>
        turn(() => {
          for (const [{ id }, value] of values) subscriber.next({ set: id, own: own(id), value });
        }),
    });
    const goOnline = () => {
      isRunning = true;
      link.prove();
      subscriber.next({ state: 'running' });
      for (const unitId of unitIds) losses.online(unitId);
    };
    const take = (bytes: Buffer, sender: Pick<Sender, 'send'>) => {
      const now = scheduler.now();
      if (now - second >= 1000) {
        second = now;
        taken = 0;
      }
      const frame = decodeFrame(mode, bytes);
      if (typeof frame === 'string') refuse(bytes, frame);
      else if (++taken > requestsPerSecond) refuse(bytes, `expected at most ${requestsPerSecond} requests per second`);
      else {
        const answer = server.answer(frame);
        if (answer === undefined && frame.unitId !== 0) return; // the request is for another unit on the line
        context.wire('in', bytes);
        link.hear();
        if (!isRunning) goOnline();
        if (answer === undefined) return;
        const sent = encodeFrame(mode, { ...frame, pdu: answer });
        context.wire('out', sent);
        sender.send(sent);
      }
    };

    const transport: Transport & { readonly sender?: Sender | undefined } = played ?? serverTransport(settings, refuse);
    const framer = transport.keepsFrames ? undefined : new RtuFramer('requests', refuse);
    const link: DeviceLink = new DeviceLink(
      {
        transports: [transport],
        ...{ connectTimeoutMs: connectTimeout, idleTimeoutMs: idleTimeout, hearsOnlyReported: true, scheduler },
        ...(played && { random: () => 1 }),
      },
      {
        opened: () => {
          framer?.reset();
          if (idleTimeout === undefined) goOnline();
        },
        received: (chunk) => {
          const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
          const now = scheduler.now();
          if (now - heardMs > silenceMs) framer?.reset();
          heardMs = now;
          const sender = transport.sender ?? { send: (frame) => link.send(frame) };
          for (const frame of framer?.push(bytes) ?? [bytes]) take(frame, sender);
        },
        ended: (reason) => {
          isRunning = false;
          subscriber.next({ state: 'degraded', reason: `${transport.name}: ${reason}` });
          for (const unitId of unitIds) losses.offline(unitId);
          return 0;
        },
      },
    );
    const reading = writable(list).map(({ id }) =>
      context.inbox(id).subscribe({ error: (error) => subscriber.error(error) }),
    );
    link.start();
    return () => {
      losses.stop();
      for (const one of reading) one.unsubscribe();
      context.finish(link.stop());
    };
  });
}

/** The duration of silence on a serial line after which an incomplete frame is discarded, in milliseconds. */
const silenceMs = 100;

/** Runs the connection without a device and confirms every write immediately. */
function simulate(context: ConnectionContext<ModbusSettings>): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { list } = itemsOf(context.settings);
    const writing = writable(list).map((item) =>
      context.inbox(item.id).subscribe({
        next: (value) => {
          if (item.isConfirmed) subscriber.next({ set: item.id, value, because: context.cause() });
        },
        error: (error) => subscriber.error(error),
      }),
    );
    subscriber.next({ state: 'running' });
    const losses = createLosses(context, (event) => subscriber.next(event));
    for (const unitId of new Set(list.map((item) => item.unitId))) losses.online(unitId);
    return new Subscription(() => {
      for (const one of writing) one.unsubscribe();
    });
  });
}

function writable(items: readonly Item[]): readonly Item[] {
  return items.filter(({ access }) => access !== 'read-only');
}

function transportsOf(settings: ModbusSettings, refuse: Refuse): readonly Transport[] {
  const { tcp, hosts } = settings;
  const serial = serialTarget(settings);
  if (serial !== undefined) return [serialTransport(serial)];
  return [tcp!, ...hosts].map((place) =>
    modeOf(settings) === 'tcp' ? tcpClient(readPlace(place), mbap, refuse) : tcpTransport(readPlace(place)),
  );
}

function serverTransport(settings: ModbusSettings, refuse: Refuse): Transport {
  const serial = serialTarget(settings);
  if (serial !== undefined) return serialTransport(serial);
  const guard = createGuard(settings.allowFrom);
  return new TcpPort({ bind: listenPlace(settings)!, refuse, guard, framing: mbap, idleTimeoutMs: undefined });
}

/**
 * The converters for the frames in tests, which have the text format of `patchbay wire`: `1 read holding 0 2`. Frames in tests have no
 * Modbus TCP header.
 */
function playedMessages(settings: ModbusSettings): PlayedMessages {
  return playedPackets(isServer(settings), showFrame, (text) =>
    encodeFrame('rtu', { transaction: 0, ...readFrame(text) }),
  );
}
