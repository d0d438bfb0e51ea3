// The hub that is measured within a benchmark's own process may be that of another source tree.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Imports the hub of a source tree, also of one before `lib/hub/index.ts`. */
export function importHub(hubFolder: string): Promise<typeof import('../../../lib/hub/index.ts')> {
  const path = join(hubFolder, 'lib', 'hub', 'index.ts');
  return import(existsSync(path) ? path : join(hubFolder, 'lib', 'hub.ts'));
}
