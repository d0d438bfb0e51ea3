// The configuration files of the administrator: dpkg never overwrites changed ones.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { placed, replaceOnce } from '../../lib/command/init.ts';

const examples = join(import.meta.dirname, '../../flows/init');
const names = ['studio.json5', 'dashboards/studio.json5'];

/** The line about the documentation in the first flow file, and its replacement in Debian. */
const moved = [
  'docs/rules.md in the package describes everything that a flow file can contain. The package is a clone, or patchbay-hub in `npm root` or `npm root -g`.',
  '/usr/lib/patchbay/docs/rules.md describes everything that a flow file can contain. systemctl reload patchbay also checks the file.',
] as const;

export const conffiles: readonly string[] = names.map((name) => `/etc/patchbay/flows/${name}`);

/** Writes the files below a folder. Errors: when the text of the first flow file no longer matches. */
export function writeConffiles(stage: string): void {
  for (const name of names) {
    let text = readFileSync(join(examples, name), 'utf8');
    if (name === names[0]) text = replaceOnce(placed(text, { data: '/var/lib/patchbay' }), ...moved);
    const path = join(stage, 'etc/patchbay/flows', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
