// Two hubs that write one file, one of them killed and started again and again: neither takes away what the other is
// writing, and a reader sees whole files. XML_ROUNDS=100 runs more of it.

import { readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import test from 'ava';
import { createFolder } from '../../support/folder.ts';
import { startTestHub } from '../../support/hub.ts';
import { startHubProcess } from '../../support/system/hub-process.ts';
import { readXml } from '../../support/xml/saxes.ts';

const rounds = Number(process.env.XML_ROUNDS ?? 2);
const leftover = /^\.out\.xml\.[0-9a-f]{12}\.part$/;

test('two hubs with one file do not disturb each other, also when one is killed while it writes', async (t) => {
  const folder = await createFolder(t);
  const path = join(folder, 'out.xml');
  const flow = (hub: string) => ({
    connections: {
      clock: { type: 'timer', pulses: [{ enabled: true, interval: 1 }] },
      onair: {
        type: 'xml-file-output',
        filename: path,
        template: `<hub name="${hub}">$Now${' '.repeat(100_000)}</hub>`,
      },
    },
    rules: [{ from: 'clock/pulse/1', map: 'string(now)', to: 'onair/Now' }],
  });
  const first = await startTestHub(t, flow('first'));
  const names = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    const second = await startHubProcess(t, flow('second'));
    for (const deadline = Date.now() + 500; Date.now() < deadline; await after(2))
      names.add(readXml(readFileSync(path, 'utf8')).find((item) => item.startsWith('@'))!);
    second.process.kill('SIGKILL');
    await second.ended();
  }
  t.deepEqual([...names].sort(), ['@name=first', '@name=second']);
  await first.stop();
  t.deepEqual(
    first.lines.filter(({ message }) => /degraded|cannot write/.test(message)),
    [],
  );

  const left = readdirSync(folder).filter((name) => leftover.test(name));
  t.log(`${left.length} of ${rounds} kills have left a file`);
  const longAgo = Date.now() / 1000 - 3600;
  for (const name of left) utimesSync(join(folder, name), longAgo, longAgo);
  const last = await startTestHub(t, flow('last'));
  await last.stop();
  t.deepEqual(readdirSync(folder), ['out.xml']);
});
