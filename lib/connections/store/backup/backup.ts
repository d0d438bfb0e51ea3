// A backup of a running hub: made by a thread of its own, and handed over piece by piece as fast as somebody takes it.

import { rm } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { HubError } from '../../../model/error.ts';
import type { Backup } from '../../archive.ts';
import type { HubPort } from '../../hub-port.ts';
import { StoreThread } from '../store-thread.ts';
import type { BackupAnswer, BackupQuestion } from '../thread/backup-messages.ts';
import { backupWork } from '../thread/database/files.ts';

export interface BackupOptions {
  readonly hub: HubPort;
  /** As the settings of the store have it. */
  readonly setting: string;
  /** The same, as a path. */
  readonly folder: string;
}

/** Makes backups of a hub, one at a time. */
export class BackupMaker {
  readonly #options: BackupOptions;
  #making: Promise<void> | undefined;

  constructor(options: BackupOptions) {
    this.#options = options;
  }

  /** Makes a backup of this moment. Errors: `conflict` while another one is made; `unavailable` with the reason. */
  async begin(): Promise<Backup> {
    if (this.#making !== undefined)
      throw new HubError('conflict', 'expected one backup at a time, another one is being made');
    const { hub, folder, setting } = this.#options;
    const work = join(folder, backupWork);
    const thread = new StoreThread<BackupQuestion, BackupAnswer>('backup-thread', 'makes a backup');
    const ended = Promise.withResolvers<void>();
    this.#making = ended.promise;
    const end = async () => {
      await thread.end();
      await rm(work, { recursive: true, force: true }).catch(() => {}); // the next one removes it
      this.#making = undefined;
      ended.resolve();
    };
    try {
      await rm(work, { recursive: true, force: true });
      const { archive } = hub.keeping;
      await Promise.all([archive?.history?.flush(), archive?.values?.flush()]);
      const { files, ...start } = hub.keeping.installation();
      const begin = { ask: 'begin', work, folder, isAbsolute: isAbsolute(setting), named: files } as const;
      const answer = await thread.ask({ ...begin, ...start, patchbay: hub.version });
      if ('begun' in answer) return { bytes: answer.begun, next: () => nextPiece(thread), end };
      throw new HubError('unavailable', `cannot make a backup: ${'failed' in answer ? answer.failed : 'it has ended'}`);
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** Resolves when no backup is being made. */
  async whenIdle(): Promise<void> {
    await this.#making;
  }
}

async function nextPiece(thread: StoreThread<BackupQuestion, BackupAnswer>): Promise<Uint8Array | undefined> {
  const answer = await thread.ask({ ask: 'next' });
  if ('piece' in answer) return answer.piece;
  throw new HubError('unavailable', `the backup cannot go on: ${'failed' in answer ? answer.failed : 'it has ended'}`);
}
