// Makes a backup of a running hub. A separate thread makes the backup and delivers it piece by piece, as fast as the client reads.
import { rm } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { Observable } from 'rxjs';
import { HubError } from '../../../model/error.ts';
import type { ConnectionContext } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Backup, NamedFile } from '../../persistence.ts';
import type { Part } from '../parts.ts';
import type { StoreSettings } from '../settings.ts';
import { StoreThread } from '../store-thread.ts';
import { backupWork } from '../thread/database/files.ts';

interface BackupOptions {
  readonly hub: HubPort;
  /** The folder of the store as written in the settings. */
  readonly setting: string;
  /** The path of the folder. */
  readonly folder: string;
}

/** Makes backups of a hub, one at a time. */
export class BackupMaker {
  readonly #options: BackupOptions;
  #making: Promise<void> | undefined;

  constructor(options: BackupOptions) {
    this.#options = options;
  }

  /**
   * Starts a backup of the current state. Errors: `conflict` while another backup is in progress; `unavailable`, which states the reason.
   */
  async begin(): Promise<Backup> {
    if (this.#making !== undefined)
      throw new HubError('conflict', 'expected one backup at a time; another one is in progress');
    const { hub, folder, setting } = this.#options;
    const work = join(folder, backupWork);
    const thread = new StoreThread<BackupQuestion, BackupAnswer>('backup-thread', 'making a backup');
    thread.start();
    const ended = Promise.withResolvers<void>();
    this.#making = ended.promise;
    const end = async () => {
      await thread.end();
      await rm(work, { recursive: true, force: true }).catch(() => {}); // the next backup removes the folder if this fails
      this.#making = undefined;
      ended.resolve();
    };
    try {
      await rm(work, { recursive: true, force: true });
      const { archive } = hub.persistence;
      await Promise.all([archive?.history?.flush(), archive?.values?.flush()]);
      const { files, ...start } = hub.persistence.installation();
      const begin = { ask: 'begin', work, folder, isAbsolute: isAbsolute(setting), named: files } as const;
      const answer = await thread.ask({ ...begin, ...start, patchbay: hub.version });
      if ('begun' in answer) return { bytes: answer.begun, next: () => nextPiece(thread), end };
      throw new HubError(
        'unavailable',
        `cannot make a backup: ${'failed' in answer ? answer.failed : 'the backup thread has ended'}`,
      );
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** Resolves as soon as no backup is in progress. */
  async whenIdle(): Promise<void> {
    await this.#making;
  }
}

async function nextPiece(thread: StoreThread<BackupQuestion, BackupAnswer>): Promise<Uint8Array | undefined> {
  const answer = await thread.ask({ ask: 'next' });
  if ('piece' in answer) return answer.piece;
  throw new HubError(
    'unavailable',
    `the backup cannot continue: ${'failed' in answer ? answer.failed : 'the backup thread has ended'}`,
  );
}

// The part of a store that handles all of its files: it publishes their location and makes backups.

/** Makes the store's files available for backups and for the store status until the subscriber unsubscribes. Cold; never errors. */
export function keepStorage(context: ConnectionContext<StoreSettings>, hub: HubPort): Part {
  const { settings, resolvePath, withoutSecrets, finish } = context;
  return new Observable((subscriber) => {
    const folder = resolvePath(settings.folder);
    const maker = new BackupMaker({ hub, folder, setting: settings.folder });
    const shown = withoutSecrets(settings.folder);
    const shownFolder = shown === settings.folder ? folder : shown;
    const withdraw = hub.persistence.offer({
      storage: { folder, shownFolder, maxBytes: settings.maxSize, backUp: () => maker.begin() },
    });
    subscriber.next({ state: 'running' });
    return () => {
      withdraw();
      finish(maker.whenIdle());
    };
  });
}

// Messages between the hub's thread and the backup thread: one request at a time.

export interface BackupRequest {
  readonly ask: 'begin';
  /** The folder in which the thread stores the copies until they have been sent. The thread creates this folder. */
  readonly work: string;
  /** The folder that contains the databases. */
  readonly folder: string;
  readonly isAbsolute: boolean;
  /** The working directory of the hub. */
  readonly startedIn: string;
  /** The flow files and folders, as specified when the hub started. */
  readonly paths: readonly string[];
  readonly named: readonly NamedFile[];
  /** The version of the hub. */
  readonly patchbay: string;
}

export type BackupQuestion = BackupRequest | { readonly ask: 'next' };

export type BackupAnswer =
  /** The thread has begun the backup, which has this many bytes. */
  | { readonly begun: number }
  /** The next piece of the backup; undefined if the backup is complete. */
  | { readonly piece: Uint8Array<ArrayBuffer> | undefined }
  | { readonly failed: string };
