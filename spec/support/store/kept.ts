// The database of values without a hub: what the next one will find in it, and values that no hub has written.

import { join } from 'node:path';
import type { Stored } from '../../../lib/connections/store/thread/database/open-stored.ts';
import { beginValues, type ValuesDatabase } from '../../../lib/connections/store/thread/values/values-database.ts';
import type { Held } from '../../../lib/connections/store/thread/values/values-messages.ts';
import type { Value } from '../../../lib/model/value.ts';
import type { Installation } from './store.ts';

const maxBytes = 100_000_000;

export interface Kept {
  readonly values: Readonly<Record<string, Value>>;
  readonly memories: Held['memories'];
  /** What the store will say is lost; a hub whose store has lost nothing is running. */
  readonly losses: readonly string[];
}

/** Opens the database as the next hub does, once the one before has closed it. */
export async function findKept(installation: Installation): Promise<Kept> {
  await installation.closed();
  return opened(installation, ({ opened: { reason, losses, held } }) => {
    if (reason !== undefined) throw new Error(reason);
    const { values, memories } = held ?? { values: [], memories: [] }; // nothing: the database is new
    return { values: Object.fromEntries(values.map(([address, , value]) => [address, value])), memories, losses };
  });
}

/** Writes integers and texts as a hub does that ends then. */
export function keep(installation: Pick<Installation, 'folder'>, values: Kept['values']): void {
  const rows = Object.entries(values).map(([address, value]) => {
    const type = typeof value === 'number' ? 'I' : 'S';
    return [address, type, value, Date.now(), ''] as const;
  });
  opened(installation, ({ database }) => database!.write({ values: rows, memories: [], snapshots: undefined }));
}

function opened<T>({ folder }: Pick<Installation, 'folder'>, use: (stored: Stored<Held, ValuesDatabase>) => T): T {
  const stored = beginValues({ folder: join(folder, 'data'), maxBytes, isRead: true }).open();
  try {
    return use(stored);
  } finally {
    stored.close();
  }
}
