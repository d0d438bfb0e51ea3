// Must show: with the target folder read-only and then writable again, the newest values arrive without a new set.
// Its own file, since the rights of a folder do not bind the administrator: as one, the whole process becomes nobody.

import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { startFlowHub, writeFlow } from '../../support/flow-hub.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

const nobody = 65534;
const isAdministrator = process.getuid?.() === 0;
if (isAdministrator) process.seteuid?.(nobody);
const root = createTempFolder();
test.after.always(() => isAdministrator && process.seteuid?.(0));

const onair = {
  type: 'xml-file-output',
  filename: 'target/onair.xml',
  template: '<status lamp="$Lamp">$Title</status>',
  statusParameter: true,
};

test('a folder that is read-only for a while delays the newest values and loses none', async (t) => {
  const target = join(root, 'target');
  const read = () => readFileSync(join(target, 'onair.xml'), 'utf8');
  mkdirSync(target);
  const { isConnected, write } = await startFlowHub(t, writeFlow(root, { connections: { onair } }));
  await isConnected('onair', true);

  chmodSync(target, 0o555);
  write('onair/Lamp', 'red');
  const { state, reason } = await isConnected('onair', false);
  t.is(state, 'degraded');
  t.is(reason, `cannot write ${join(target, 'onair.xml')}: permission denied (EACCES)`);
  for (let count = 0; count <= 100; count++) write('onair/Title', count);
  write('onair/Lamp', 'green');
  t.deepEqual(readdirSync(target), []);

  chmodSync(target, 0o755);
  t.is((await isConnected('onair', true)).reason, '');
  t.is(read(), '<status lamp="green">100</status>');
  t.deepEqual(readdirSync(target), ['onair.xml']);
});
