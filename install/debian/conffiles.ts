// The files that belong to whoever runs the hub: dpkg never overwrites what they have changed.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { placed, replaceOnce } from '../../lib/command/init.ts';

const examples = join(import.meta.dirname, '../../flows/init');
const names = ['studio.json5', 'dashboards/studio.json5'];

/** Where the first flow file says more may be read, and where that is in Debian. */
const moved = [
  'docs/rules.md of the package: in a clone, or below $(npm root -g)/patchbay-hub',
  '/usr/lib/patchbay/docs/rules.md. systemctl reload patchbay checks it as well',
] as const;

export const conffiles: readonly string[] = names.map((name) => `/etc/patchbay/flows/${name}`);

/** Writes them below a folder. Errors: when the first flow file has another text by now. */
export function writeConffiles(stage: string): void {
  for (const name of names) {
    let text = readFileSync(join(examples, name), 'utf8');
    if (name === names[0]) text = replaceOnce(placed(text, { data: '/var/lib/patchbay' }), ...moved);
    const path = join(stage, 'etc/patchbay/flows', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
