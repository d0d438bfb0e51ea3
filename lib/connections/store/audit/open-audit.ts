// Opens the database of the audit and the log.

import { filesOf } from '../thread/database/files.ts';
import { expectRoom } from '../thread/database/free-room.ts';
import { openStored, type Stored } from '../thread/database/open-stored.ts';
import { createDatabase } from '../thread/database/store-database.ts';
import { AuditDatabase } from './audit-database.ts';
import type { HeldAudit, OpenAudit } from './messages.ts';
import { tables } from './tables.ts';

export type OpenedFile = Stored<HeldAudit, AuditDatabase>;

export function openAudit({ folder, maxBytes, keepMs, isRead, isSuspect }: OpenAudit): OpenedFile {
  const files = filesOf(folder, 'audit');
  return openStored<HeldAudit, AuditDatabase>(files, {
    lock: 'audit',
    others: 'keeps its audit in this folder',
    isRead,
    create: (path) => {
      expectRoom(folder, 'audit');
      createDatabase(path, tables);
    },
    read: (path) => AuditDatabase.read(path, { isRead, isSuspect }),
    lostSince: 'later entries are lost',
    lost: 'all entries are lost',
    open: () => new AuditDatabase(files.path, maxBytes, keepMs),
  });
}
