// The connection type `midi`: controllers, mixing desks, lamps and motor faders, connected through MIDI ports of this machine, raw devices,
// TCP or serial ports.

import { Observable, type Subscription } from 'rxjs';
import { DeviceLink } from '../../device/link.ts';
import type { Transport } from '../../device/transport.ts';
import { claimFile } from '../claim.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType, playedPackets } from '../connection.ts';
import { Loss } from '../loss.ts';
import { readMessage, showMessage } from './messages.ts';
import { createTransport } from './ports.ts';
import { MidiSession } from './session.ts';
import { declarationOf, itemsOf, type MidiSettings, settingsSchema } from './settings.ts';

/** The device whose values are stale while the port is closed. Parameters that the hub only sends belong to the hub. */
const deviceName = 'midi device';
/** How long a silent device must stay open before it counts as working, in milliseconds. */
const provedMs = 5000;

export const midi = defineConnectionType({
  type: 'midi',
  isExternal: true,
  isKept: true,
  settingsSchema,
  durations: ['hold', 'quiet', 'connectTimeout', 'idleTimeout'],
  parameters: (settings) =>
    itemsOf(settings).items.map((item) => ({ ...declarationOf(item), ...(!item.isOut && { device: deviceName }) })),
  mistakes: (settings) => itemsOf(settings).mistakes,
  claims: ({ path, serial }, resolvePath) => {
    if (serial !== undefined) return claimFile(typeof serial === 'string' ? serial : serial.path);
    return typeof path === 'string' ? claimFile(resolvePath(path)) : [];
  },
  isSimulated: ({ simulate }) => simulate,
  showFrame: showMessage,
  played: { messages: () => playedPackets(false, showMessage, readMessage), run },
  run: (context) => (context.settings.simulate ? simulate(context) : run(context)),
});

/** Opens the device over a test's transport or, by default, over the transport in the settings. */
function run(context: ConnectionContext<MidiSettings>, played?: Transport): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, scheduler, log, turn, own, resolvePath } = context;
    const { items } = itemsOf(settings);
    const { connectTimeout, idleTimeout } = settings;
    const transport =
      played ??
      createTransport(settings, resolvePath, {
        dropped: (bytes) => log.warn({ bytes }, 'messages were dropped, because too many arrived at once'),
      });
    const loss = new Loss(settings, scheduler, () =>
      turn(() => {
        for (const { id, type, isOut } of items) if (!isOut && type !== 'T') subscriber.next({ unset: id });
      }),
    );
    const session = new MidiSession(settings, items, scheduler, {
      set: ({ id }, value) => subscriber.next({ set: id, own: own(id), value }),
      turn,
      send: (bytes) => link.send(bytes),
      wire: (direction, bytes, fault) => context.wire(direction, bytes, fault),
      lost: (reason) => log.warn({}, reason, 'trigger dropped'),
    });
    let proving: Subscription | undefined;
    const link: DeviceLink = new DeviceLink(
      {
        ...{ transports: [transport], connectTimeoutMs: connectTimeout, idleTimeoutMs: idleTimeout, scheduler },
        ...(played && { random: () => 1 }),
      },
      {
        opened: () => {
          proving = scheduler.schedule(() => link.prove(), provedMs);
          loss.end();
          subscriber.next({ state: 'running' });
          subscriber.next({ stale: false });
          subscriber.next({ stale: false, device: deviceName });
          session.opened(({ id }) => own(id)?.value);
        },
        received: (bytes) => {
          link.prove();
          session.received(bytes);
        },
        ended: (reason) => {
          proving?.unsubscribe();
          session.closed();
          subscriber.next({ state: 'degraded', reason: `${transport.name}: ${reason}` });
          subscriber.next({ stale: true, device: deviceName });
          loss.begin();
          return 0;
        },
      },
    );
    const writing = items
      .filter(({ isOut }) => isOut)
      .map((item) =>
        context.inbox(item.id).subscribe({
          next: (value) => session.write(item, value),
          error: (error) => subscriber.error(error),
        }),
      );
    link.start();
    return () => {
      for (const one of writing) one.unsubscribe();
      loss.end();
      proving?.unsubscribe();
      session.closed();
      context.finish(link.stop());
    };
  });
}

/** Runs without a device. */
function simulate({ settings, inbox }: ConnectionContext<MidiSettings>): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    subscriber.next({ state: 'running' });
    subscriber.next({ stale: false });
    subscriber.next({ stale: false, device: deviceName });
    const writing = itemsOf(settings)
      .items.filter(({ isOut }) => isOut)
      .map(({ id }) => inbox(id).subscribe({ error: (error) => subscriber.error(error) }));
    return () => {
      for (const one of writing) one.unsubscribe();
    };
  });
}
