// patchbay init: a folder to begin with. Nothing that is there already is touched.

import { lstatSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { HubError } from '../model/error.ts';
import { printable } from '../model/printable.ts';
import type { Console } from './console.ts';
import { defaultFolder, quoted } from './first-steps.ts';

const examples = join(import.meta.dirname, '../../flows/init');

const flowFile = 'studio.json5';

/** The files that it makes, and what they are copied from. */
const copied = [flowFile, 'dashboards/studio.json5'];

/** What the flow file says of the place where it runs. */
export interface Place {
  /** Where the store keeps its files, from the folder of the flow file on. */
  readonly data?: string;
  /** Who may come; the empty text: the whole network. */
  readonly bindIp?: string;
}

/**
 * Makes a flow file, a dashboard and a README in a folder. `call` is how the command is called. Errors: `conflict`, `bad-request`
 * for what is no address of a network interface.
 */
export async function init(
  folder: string,
  call: string,
  { print }: Pick<Console, 'print'>,
  place: Place = {},
): Promise<number> {
  const files = new Map<string, string>();
  for (const name of copied) {
    const text = await readFile(join(examples, name), 'utf8');
    files.set(join(defaultFolder, name), name === flowFile ? placed(text, place) : text);
  }
  files.set('README.md', readmeOf(call, place));
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

/** The first flow file for another place. Errors: when it has another text by now. */
export function placed(text: string, { data, bindIp }: Place): string {
  if (bindIp !== undefined && bindIp !== '' && isIP(bindIp) === 0)
    throw new HubError(
      'bad-request',
      `--bind-ip: expected an IP address, or '' for all, got ${JSON.stringify(bindIp)}`,
    );
  const inPlace = data === undefined ? text : replaceOnce(text, "folder: 'data'", `folder: ${inQuotes(data)}`);
  return bindIp === undefined ? inPlace : replaceOnce(inPlace, "bindIp: '127.0.0.1'", `bindIp: '${bindIp}'`);
}

export function replaceOnce(text: string, from: string, to: string): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`${flowFile}: expected "${from}" once, got it ${parts.length - 1} times`);
  return parts.join(to);
}

function inQuotes(text: string): string {
  return /^[^'\\\p{Cc}\u2028\u2029]*$/u.test(text) ? `'${text}'` : JSON.stringify(text);
}

function readmeOf(call: string, { data }: Place): string {
  return `# A studio

- \`${call} run\` runs the hub. The console is at <http://localhost:17011/hub/>, the dashboard at
  <http://localhost:17011/hub/#/dashboards?name=studio>.
- ${defaultFolder}/studio.json5 says which parameters there are, and what follows from what. Save it, and the hub follows.
- \`${call} check\` names every mistake with its place, \`${call} test\` runs the tests of the file.
- ${data ?? `${defaultFolder}/data`} is what the hub keeps: \`${call} backup studio.tar\` makes a copy of all while it runs.
`;
}
