// The hub that is measured within a benchmark's own process may be that of another source tree.

import { join } from 'node:path';

/** Imports `lib/hub.ts` of a source tree. */
export function importHub(hubFolder: string): Promise<typeof import('../../../lib/hub/index.ts')> {
  return import(join(hubFolder, 'lib', 'hub.ts'));
}
