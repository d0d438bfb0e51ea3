// Imports the hub to measure, for benchmarks that run it in their own process. It may come from another source tree.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Imports the hub of a source tree, including trees older than `lib/hub/index.ts`. */
export function importHub(hubFolder: string): Promise<typeof import('../../../lib/hub/index.ts')> {
  const path = join(hubFolder, 'lib', 'hub', 'index.ts');
  return import(existsSync(path) ? path : join(hubFolder, 'lib', 'hub.ts'));
}
