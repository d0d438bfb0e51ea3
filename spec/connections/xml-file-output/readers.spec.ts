// Must show: a second process reading the file as fast as it can during 20,000 sets never sees a file that does not
// parse, and the last one is right.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { startHubFrom, writer } from '../../support/hub.ts';
import { dependent } from '../../support/system/dependent.ts';
import { readByXmllint } from '../../support/xml/xmllint.ts';

const readerPath = fileURLToPath(new URL('../../support/xml/reading-process.ts', import.meta.url));
const sets = 20_000;
/** So often at least the reader has to see another file. */
const setsPerFile = 100;
/** Long enough that a file written in place is read half-way. */
const padding = '<line>of a long file</line>\n'.repeat(2000);

test('a reader never sees half a file during 20,000 sets', async (t) => {
  const template = `<status last="$Last">$Text<![CDATA[$Text]]>\n${padding}</status>`;
  const hub = await startHubFrom(t, {
    'flow.json5': { connections: { onair: { type: 'xml-file-output', filename: 'onair.xml', template } } },
    'onair.xml': '<status/>',
  });
  const path = join(hub.folder, 'onair.xml');
  const reader = spawn(...dependent(process.execPath, [readerPath, path, 'yes']), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => reader.kill());
  const lines = createInterface({ input: reader.stdout })[Symbol.asyncIterator]();
  t.is((await lines.next()).value, 'another file');

  for (let count = 1; count < sets; count++) {
    hub.write('onair/Text', `]]> <b>&amp; ${count}`, writer);
    if (count % 10 === 0) await setImmediate();
    if (count % setsPerFile === 0) t.is((await lines.next()).value, 'another file');
  }
  hub.write('onair/Last', 'yes', writer);
  let line = await lines.next();
  while (line.value === 'another file') line = await lines.next();
  const { reads, distinct, broken } = JSON.parse(line.value ?? '{}');
  t.log(`${reads} reads of ${distinct} different files`);
  t.deepEqual(broken, []);
  await hub.stop();

  const text = `]]> <b>&amp; ${sets - 1}`;
  t.true(readFileSync(path, 'utf8').startsWith('<status last="yes">]]&gt; &lt;b&gt;'));
  t.deepEqual(readByXmllint([path])[0]?.slice(0, 3), ['status', '@last=yes', `"${text}${text}\n`]);
});
