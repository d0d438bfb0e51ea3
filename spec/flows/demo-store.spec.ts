// What the README says of the demo: a hub that is killed knows its lamps again, and why they are as they are.

import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { explain } from '../../lib/command/remote/why-command.ts';
import { deadlineMs, eventually } from '../support/deadline.ts';
import { createFolder } from '../support/folder.ts';
import { root } from '../support/repository/readme.ts';
import { call } from '../support/system/process.ts';
import { startKilledHub } from '../trials/store/killed-hub.ts';

test('the demo has its red light on again after a kill, and explains it back to the client', async (t) => {
  const folder = await createFolder(t);
  const demo = await readFile(join(root, 'flows/demo.json5'), 'utf8');
  await writeFile(join(folder, 'flow.json5'), demo.replace('port: 17011', "port: 0, bindIp: '127.0.0.1'"));
  const start = async () => {
    const hub = await startKilledHub(folder, true);
    t.teardown(() => hub.process.kill('SIGKILL'));
    const url = `http://127.0.0.1:${hub.port}`;
    const get = async (path: string) => (await fetch(`${url}/${path}`)).text();
    return { ...hub, url, get };
  };
  const before = await start();
  t.is(await before.get('update?parameter=desk/mic-open&value=true'), 'OK');
  await eventually(() => isKept(join(folder, 'data/values.db'), 'desk/red-light'));
  before.process.kill('SIGKILL');
  await once(before.process, 'exit');

  const hub = await start();
  t.is(await hub.get('parameters/desk/red-light'), 'true');
  const { output } = await call((console) =>
    explain('desk/red-light', { url: hub.url, username: '', password: '', token: '' }, console),
  );
  const file = '\\(.*flow\\.json5\\)';
  const expected = [
    'desk/red-light = true, restored by store',
    `desk/red-light = true \\(was false\\), set by rule "red light" ${file}`,
    'core/red-light = true \\(was false\\), set by connection core',
    'desk/mic-open = true \\(was false\\), set by client api 127\\.0\\.0\\.1',
  ];
  const lines = output.trimEnd().split('\n');
  t.is(lines.length, expected.length, output);
  for (const [index, line] of lines.entries()) t.regex(line, new RegExp(`^\\S+ +${expected[index]}$`));
});

function isKept(path: string, address: string): boolean {
  const database = new DatabaseSync(path, { readOnly: true, timeout: deadlineMs });
  try {
    return database.prepare('SELECT 1 FROM parameter WHERE address = ?').get(address) !== undefined;
  } finally {
    database.close();
  }
}
