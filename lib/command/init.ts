// patchbay init: a folder to begin with. Nothing that is there already is touched.

import { lstatSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HubError } from '../model/error.ts';
import { printable } from '../model/printable.ts';
import type { Console } from './console.ts';
import { defaultFolder, quoted } from './first-steps.ts';

const examples = join(import.meta.dirname, '../../flows/init');

/** The files that it makes, and what they are copied from. */
const copied = ['studio.json5', 'dashboards/studio.json5'];

/** Makes a flow file, a dashboard and a README in a folder. `call` is how the command is called. Errors: `conflict`. */
export async function init(folder: string, call: string, { print }: Pick<Console, 'print'>): Promise<number> {
  const files = new Map<string, string>();
  for (const name of copied) files.set(join(defaultFolder, name), await readFile(join(examples, name), 'utf8'));
  files.set('README.md', readmeOf(call));
  files.set('.gitignore', `${defaultFolder}/data\nnode_modules\n`);
  for (const name of files.keys())
    if (lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined)
      // a link that leads nowhere is in the way as well
      throw new HubError('conflict', `${join(folder, name)}: expected nothing, there is one already; nothing was made`);
  for (const [name, text] of files) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: 'wx' });
    print(printable(`made ${path}`));
  }
  print(
    [
      '',
      ...(folder === '.' ? [] : [`cd ${quoted(folder)}`]),
      `${call} run`,
      '',
      'and then open http://localhost:17011/hub/',
    ].join('\n'),
  );
  return 0;
}

function readmeOf(call: string): string {
  return `# A studio

- \`${call} run\` runs the hub. The console is at <http://localhost:17011/hub/>, the dashboard at
  <http://localhost:17011/hub/#/dashboards?name=studio>.
- ${defaultFolder}/studio.json5 says which parameters there are, and what follows from what. Save it, and the hub follows.
- \`${call} check\` names every mistake with its place, \`${call} test\` runs the tests of the file.
- ${defaultFolder}/data is what the hub keeps: \`${call} backup studio.tar\` makes a copy of all while it runs.
`;
}
