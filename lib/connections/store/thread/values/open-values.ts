// Opens the database of values.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { backupWork, filesOf } from '../database/files.ts';
import { openStored, type Stored } from '../database/open-stored.ts';
import type { Held, OpenRequest } from './messages.ts';
import { ValuesDatabase } from './values-database.ts';

/** How many damaged rows are told by name, and how much of each name. */
const shownNames = 5;
const shownCharacters = 100;

export type OpenValues = Stored<Held, ValuesDatabase>;

/** While the hub runs nothing is lost: it knows all values itself. */
export function openValues({ folder, maxBytes, isRead }: OpenRequest): OpenValues {
  const files = filesOf(folder, 'values');
  return openStored<Held, ValuesDatabase>(files, {
    lock: 'hub',
    others: 'keeps its values in this folder',
    isRead,
    create: ValuesDatabase.create,
    read: (path) => ValuesDatabase.check(path, isRead),
    lostSince: isRead ? 'later changes are lost' : undefined,
    lost: isRead ? 'all values are lost' : 'the hub writes it anew',
    lossesOf: (held) => lossesOf(files.path, held),
    open(held) {
      rmSync(join(folder, backupWork), { recursive: true, force: true }); // a hub was killed while it made a backup
      return new ValuesDatabase(files.path, maxBytes, held !== undefined && held.damaged.length > 0);
    },
  });
}

/** `values.db has 2 damaged rows, what they held is lost: desk/lamp, desk/level` */
function lossesOf(path: string, { damaged }: Held): string[] {
  if (damaged.length === 0) return [];
  const names = damaged.slice(0, shownNames).map((name) => name.slice(0, shownCharacters));
  const more = damaged.length > shownNames ? ` and ${damaged.length - shownNames} more` : '';
  const rows = damaged.length === 1 ? 'a damaged row, what it held' : `${damaged.length} damaged rows, what they held`;
  return [`${path} has ${rows} is lost: ${names.join(', ')}${more}`];
}
