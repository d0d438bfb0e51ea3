// What the store of the hub can be asked for.

import { HubError } from '../../../../model/error.ts';
import type { Archive } from '../../../archive.ts';
import type { HubPort } from '../../../hub-port.ts';

/** Errors: `not-found` when the hub has no store that runs. */
export function archiveOf({ keeping }: Pick<HubPort, 'keeping'>): Archive {
  if (keeping.archive === undefined) throw new HubError('not-found', 'this hub has no store');
  return keeping.archive;
}
