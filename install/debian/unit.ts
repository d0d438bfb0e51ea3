// The unit of the Debian package. It runs the packaged hub, even if /usr/local/bin has another one.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export function unitOfPackage(): string {
  const unit = readFileSync(join(import.meta.dirname, '../patchbay.service'), 'utf8');
  return unit.replaceAll(/^(Exec\w+=)patchbay /gm, '$1/usr/bin/patchbay ');
}
