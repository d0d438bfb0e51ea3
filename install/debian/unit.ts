// The unit of the Debian package: it runs the hub of the package, whatever stands in /usr/local/bin.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export function unitOfPackage(): string {
  const unit = readFileSync(join(import.meta.dirname, '../patchbay.service'), 'utf8');
  return unit.replaceAll(/^(Exec\w+=)patchbay /gm, '$1/usr/bin/patchbay ');
}
