// Gives back what another hub of a pair has kept in the same folder, once the folder is this hub's.

import type { Log } from '../../connection.ts';
import type { KeepingPort, KeptValue } from '../../keeping.ts';
import type { Opened } from '../thread/values/messages.ts';

export interface GiveBackOptions {
  /** The Connection ID of the store. */
  readonly id: string;
  readonly keeping: KeepingPort;
  readonly log: Log;
  readonly keptOf: (held: NonNullable<Opened['held']>) => readonly KeptValue[];
}

/** To be called with what the database held whenever it was opened; the first time the hub may wait for it. */
export function createGiveBack({ id, keeping, log, keptOf }: GiveBackOptions): (held: Opened['held']) => void {
  let isFirst = true;
  return (held) => {
    const values = held === undefined ? [] : keptOf(held);
    const isTaken = keeping.giveBack({ values, memories: held?.memories ?? [] }, id);
    if (isTaken) log.info({ values: values.length }, `gives back ${values.length} values`);
    else if (isFirst) log.warn({}, 'gives nothing back: connections have not waited any longer');
    isFirst = false;
  };
}
