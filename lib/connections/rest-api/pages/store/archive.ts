// What the store of the hub can be asked for.

import { HubError } from '../../../../model/error.ts';
import type { Archive } from '../../../archive.ts';
import type { HubPort } from '../../../hub-port.ts';

/** What a part of the store can be asked for. Errors: `not-found` when the hub has no store, or one without this part, that runs. */
export function archived<Part extends keyof Archive>(
  { keeping: { archive } }: Pick<HubPort, 'keeping'>,
  part: Part,
): NonNullable<Archive[Part]> {
  if (archive === undefined) throw new HubError('not-found', 'this hub has no store');
  const found = archive[part];
  if (found === undefined) throw new HubError('not-found', `the store of this hub has no ${part}`);
  return found;
}
