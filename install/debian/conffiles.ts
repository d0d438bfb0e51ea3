// The files that belong to whoever runs the hub: dpkg never overwrites what they have changed.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const examples = join(import.meta.dirname, '../../flows/init');
const names = ['studio.json5', 'dashboards/studio.json5'];

/** Texts of the first flow file of `patchbay init`, and what they are where Debian keeps things. */
const moved = [
  ["folder: 'data'", "folder: '/var/lib/patchbay'"],
  [
    'flows/README.md of the package: in a clone, or below $(npm root -g)/patchbay-hub',
    '/usr/lib/patchbay/flows/README.md. systemctl reload patchbay checks it as well',
  ],
] as const;

export const conffiles: readonly string[] = names.map((name) => `/etc/patchbay/flows/${name}`);

/** Writes them below a folder. Errors: when the first flow file has another text by now. */
export function writeConffiles(stage: string): void {
  for (const name of names) {
    let text = readFileSync(join(examples, name), 'utf8');
    if (name === names[0]) for (const [from, to] of moved) text = replaceOnce(text, from, to);
    const path = join(stage, 'etc/patchbay/flows', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

function replaceOnce(text: string, from: string, to: string): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`${names[0]}: expected "${from}" once, got it ${parts.length - 1} times`);
  return parts.join(to);
}
