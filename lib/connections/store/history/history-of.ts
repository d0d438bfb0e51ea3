// The history as a part of the store.

import type { ConnectionContext } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Part } from '../parts.ts';
import { roomOf } from '../room.ts';
import type { StoreSettings } from '../settings.ts';
import { recordHistory } from './record-history.ts';
import { rulesOf } from './settings.ts';

/** Records everything that changes, but for the store's own parameters. */
export function historyOf(
  { id, settings, resolvePath, scheduler, finish }: ConnectionContext<StoreSettings>,
  hub: HubPort,
  readersEnded: () => Promise<unknown>,
): Part {
  return recordHistory({
    hub,
    rules: rulesOf(settings.history),
    folder: resolvePath(settings.folder),
    room: roomOf(settings.maxSize).history,
    scheduler,
    isOwn: (address) => address.startsWith(`${id}/`),
    offer: (history) => hub.keeping.offer({ history }),
    readersEnded,
    finish,
  });
}
