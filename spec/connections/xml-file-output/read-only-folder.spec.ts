// Must show: with the target folder read-only and then writable again, the newest values arrive without a new set.
// Its own file, since the rights of a folder do not bind the administrator: as one, the whole process becomes nobody.

import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isConnected, startHubFrom, writer } from '../../support/hub.ts';
import { asNobody } from '../../support/system/nobody.ts';

const testAsNobody = asNobody();

const onair = {
  type: 'xml-file-output',
  filename: 'target/onair.xml',
  template: '<status lamp="$Lamp">$Title</status>',
  statusParameter: true,
};

testAsNobody('a folder that is read-only for a while delays the newest values and loses none', async (t) => {
  const hub = await startHubFrom(t, { 'flow.json5': { connections: { onair } }, 'target/onair.xml': '' });
  const target = join(hub.folder, 'target');
  const read = () => readFileSync(join(target, 'onair.xml'), 'utf8');
  const write = (address: string, value: unknown) => hub.write(address, value, writer);
  rmSync(join(target, 'onair.xml'));
  await isConnected(hub, 'onair', true);

  chmodSync(target, 0o555);
  write('onair/Lamp', 'red');
  const { state, reason } = await isConnected(hub, 'onair', false);
  t.is(state, 'degraded');
  t.is(reason, `cannot write ${join(target, 'onair.xml')}: permission denied (EACCES)`);
  for (let count = 0; count <= 100; count++) write('onair/Title', count);
  write('onair/Lamp', 'green');
  t.deepEqual(readdirSync(target), []);

  chmodSync(target, 0o755);
  t.is((await isConnected(hub, 'onair', true)).reason, '');
  t.is(read(), '<status lamp="green">100</status>');
  t.deepEqual(readdirSync(target), ['onair.xml']);
});
