// The files that a flow in TypeScript imports belong to it: they are watched, and saving one imports it again.

import { symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import { startHub } from '../../../lib/hub/index.ts';
import { createLogRecorder } from '../../support/connection.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { writer } from '../../support/hub.ts';

const root = resolve(import.meta.dirname, '../../..');

const flow = (factor: string) => `
  import { defineFlow } from ${JSON.stringify(join(root, 'lib/index.ts'))};
  import { map } from 'rxjs';
  import { factor } from './${factor}.ts';
  export default defineFlow({
    connections: { desk: { type: 'dummy', parameters: ['a,I', 'b,I'] } },
    rules: (on) => [{ name: 'times', from: on.integer('desk/a').pipe(map((v) => v * factor)), to: 'desk/b' }],
  });
`;

test('saving a file that a flow imports, directly or not, takes effect; an error there is reported and fixed there', async (t) => {
  const folder = await createFolder(t, {
    'flow.ts': flow('_factor'),
    '_factor.ts': "import { tens } from './_tens.ts';\nexport const factor = 10 * tens;\n",
    '_tens.ts': 'export const tens = 1;\n',
    'package.json': { type: 'module' },
  });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const log = createLogRecorder();
  const hub = await startHub({ paths: [folder], log, watch: true });
  t.teardown(() => hub.stop());
  let a = 0;
  const isTimes = (factor: number) => {
    hub.write('desk/a', ++a, writer);
    return hub.find('desk/b')?.value === a * factor;
  };
  const save = (name: string, text: string) => writeFile(join(folder, name), text);
  t.true(isTimes(10));

  await save('_tens.ts', 'export const tens = 2;\n');
  await eventually(() => isTimes(20), 'an import of an import was saved');

  await save('_tens.ts', "export const tens = 3;\nthrow new Error('bad');\n");
  t.regex(await log.logged(/bad/), /flow\.ts: cannot be loaded: bad \(\S*_tens\.ts:2:\d+\)$/);
  t.true(isTimes(20));
  await save('_tens.ts', 'export const tens = 3;\n');
  await eventually(() => isTimes(30), 'the mistake was mended');

  await save('flow.ts', flow('_other'));
  await log.logged(/_other/);
  await save('_other.ts', 'export const factor = 7;\n');
  await eventually(() => isTimes(7), 'the missing file is there');
});
