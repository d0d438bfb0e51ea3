// The part of a store that knows its files as a whole: it tells where they are, and makes backups.

import { Observable } from 'rxjs';
import type { ConnectionContext } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Part } from '../parts.ts';
import type { StoreSettings } from '../settings.ts';
import { BackupMaker } from './backup.ts';

/** Offers the files of the store until it is unsubscribed. Cold, never errs. */
export function keepStorage(context: ConnectionContext<StoreSettings>, hub: HubPort): Part {
  const { settings, resolvePath, withoutSecrets, finish } = context;
  return new Observable((subscriber) => {
    const folder = resolvePath(settings.folder);
    const maker = new BackupMaker({ hub, folder, setting: settings.folder });
    const shown = withoutSecrets(settings.folder);
    const shownFolder = shown === settings.folder ? folder : shown;
    const withdraw = hub.keeping.offer({
      storage: { folder, shownFolder, maxBytes: settings.maxSize, backUp: () => maker.begin() },
    });
    subscriber.next({ state: 'running' });
    return () => {
      withdraw();
      finish(maker.whenIdle());
    };
  });
}
