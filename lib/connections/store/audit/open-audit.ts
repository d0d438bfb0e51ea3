// Opens the database of the audit and the log, whatever has become of it. It never throws.

import { mkdirSync } from 'node:fs';
import { messageOf } from '../../../model/error.ts';
import { filesOf } from '../thread/files.ts';
import { FolderLock } from '../thread/folder-lock.ts';
import { expectRoom } from '../thread/free-room.ts';
import { ageOf, recover } from '../thread/recover.ts';
import { createDatabase } from '../thread/store-database.ts';
import { troubleOf } from '../thread/trouble.ts';
import { AuditDatabase } from './audit-database.ts';
import type { HeldAudit, OpenAudit, OpenedAudit } from './messages.ts';
import { tables } from './tables.ts';

/** What is open until it is closed; `opened` says what came of it. */
export interface OpenedFile {
  readonly opened: OpenedAudit;
  readonly database: AuditDatabase | undefined;
  close(): void;
}

export function openAudit({ folder, maxBytes, keepMs, isRead, isSuspect }: OpenAudit): OpenedFile {
  const files = filesOf(folder, 'audit');
  const losses: string[] = [];
  let lock: FolderLock | undefined;
  let held: HeldAudit | undefined;
  try {
    mkdirSync(folder, { recursive: true });
    lock = new FolderLock(folder, 'audit');
    held = recover(files, losses, {
      create: (path) => {
        expectRoom(folder, 'audit');
        createDatabase(path, tables);
      },
      read: (path) => AuditDatabase.read(path, { isRead, isSuspect }),
      lostSince: 'later entries are lost',
      lost: 'all entries are lost',
    });
    const database = new AuditDatabase(files.path, maxBytes, keepMs);
    const close = () => {
      database.close();
      lock?.free();
    };
    return { opened: { losses, held, reason: undefined, copyAgeMs: ageOf(files.copy) }, database, close };
  } catch (error) {
    lock?.free();
    const isBusy = lock === undefined && troubleOf(error) === 'busy';
    const why = isBusy ? 'another hub keeps its audit in this folder' : messageOf(error);
    const reason = `cannot write ${files.path}: ${why}`;
    return { opened: { losses, held, reason, copyAgeMs: undefined }, database: undefined, close: () => {} };
  }
}
