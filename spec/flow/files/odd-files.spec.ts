// Anything odd in place of a flow file, or of a file that one names, is an error with its path, beside all others. It delays
// neither the hub, nor the next reload, nor the end.

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import { loadFlows } from '../../../lib/hub/index.ts';
import { within } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { api } from '../../support/hub.ts';
import { oddFiles, replaceBy } from '../../support/odd-file.ts';
import { sampled } from '../../support/random.ts';
import { startHubProcessIn } from '../../support/system/hub-process.ts';
import { slowness } from '../../support/system/machine.ts';

const index = JSON.stringify(resolve(import.meta.dirname, '../../../lib/index.ts'));
const desk = { type: 'dummy', parameters: ['a'] };
const program = (more: string) =>
  `import { defineFlow } from ${index};\n${more}\nexport default defineFlow({ connections: { ts: { type: 'dummy', parameters: ['a'] } } });\n`;

/** Installations with an odd file; each has a further error in another file. */
const readers: readonly { what: string; files: Record<string, unknown>; odd: string; isLenient?: RegExp }[] = [
  { what: 'a flow file in JSON5', files: {}, odd: 'odd.json5' },
  { what: 'a flow file in TypeScript', files: {}, odd: 'odd.ts' },
  {
    what: 'a flow file in a folder within',
    files: { 'more/b.json5': { connections: { b: desk } } },
    odd: 'more/odd.json5',
  },
  {
    what: 'a template',
    files: { 'b.json5': { instances: { template: './_odd.json5', each: { one: {} } } } },
    odd: '_odd.json5',
  },
  {
    what: 'an import',
    files: { 'b.ts': program("import './_odd.ts';") },
    odd: '_odd.ts',
    isLenient: /^a link to (nowhere|a file of)/,
  },
  {
    what: 'the package of a flow',
    files: { 'b/c.ts': program('') },
    odd: 'b/package.json',
    isLenient: /^a link to (nowhere|a file of)/,
  },
  {
    what: 'a secret',
    files: { 'b.json5': { connections: { api: { type: 'rest-api', username: 'a', password: { file: 'odd' } } } } },
    odd: 'odd',
  },
  {
    what: 'the parameters of other hubs',
    files: { 'b.json5': { connections: { net: { type: 'nats', domain: 'd', hub: 'h', mirrors: 'odd' } } } },
    odd: 'odd',
  },
];

for (const [reader, { what, files, odd: name, isLenient }] of readers.entries())
  test.serial(`${what} that is not a file is an error with its path, beside the others`, async (t) => {
    const isTried = sampled(t, 3);
    for (const [index, odd] of oddFiles.entries()) {
      if (!isTried(index + reader)) continue;
      const folder = await createFolder(t, {
        'a.json5': { connections: { desk: { ...desk, parameter: 'x' } } },
        'package.json': { type: 'module' },
        ...files,
      });
      await replaceBy(odd, join(folder, name), t);
      const before = process.memoryUsage().rss;
      const { message } = (await within(t.throwsAsync(loadFlows([folder])), `the load of ${odd.kind}`, 30_000))!;
      t.true(process.memoryUsage().rss - before < 300e6, `${odd.kind} takes memory`);
      const lines = message.split('\n');
      t.true(
        lines.some((line) => line.includes('unknown setting "parameter"')),
        message,
      );
      const reported = lines.filter((line) => odd.reported.test(line) && line.includes(name));
      t.true(reported.length > 0 || isLenient?.test(odd.kind), `${odd.kind}: ${message}`);
    }
  });

test.serial('a path that is not a flow file is reported', async (t) => {
  const folder = await createFolder(t, { 'a.json5': { connections: { desk } } });
  for (const odd of oddFiles.filter(({ kind }) => kind !== 'a folder')) {
    const path = join(folder, 'odd.json5');
    await replaceBy(odd, path, t);
    const { message } = (await t.throwsAsync(loadFlows([join(folder, 'a.json5'), path])))!;
    t.true(message.startsWith(`${path}: `), message);
    t.regex(message, odd.reported);
  }
});

test('bytes that are not UTF-8 are reported with their place', async (t) => {
  const folder = await createFolder(t, { 'b.json5': { instances: { template: './_t.json5', each: { a: {} } } } });
  const wrong = Buffer.from([0x2f, 0x2f, 0xc3, 0xbc, 0xe4, 0x0a]);
  writeFileSync(join(folder, 'a.json5'), Buffer.concat([Buffer.from('{\n'), wrong, Buffer.from('}')]));
  writeFileSync(join(folder, '_t.json5'), Buffer.concat([wrong, Buffer.from('{}')]));
  writeFileSync(join(folder, 'c.ts'), Buffer.concat([wrong, Buffer.from('export default {}')]));
  writeFileSync(join(folder, 'd.json5'), Buffer.from('\ufeff{}', 'utf16le'));
  const { message } = (await t.throwsAsync(loadFlows([folder])))!;
  t.deepEqual(
    message.split('\n').map((line) => line.slice(folder.length + 1)),
    [
      'a.json5:2:4: expected a file that can be read, got bytes that are not UTF-8',
      '_t.json5:1:4: expected a file that can be read, got bytes that are not UTF-8',
      'c.ts:1:4: expected a file that can be read, got bytes that are not UTF-8',
      'd.json5:1:1: expected a file that can be read, got UTF-16: save it as UTF-8',
    ],
  );
});

test('a folder whose links lead to each other is read once', async (t) => {
  const folder = await createFolder(t, { 'a.json5': { connections: { desk } } });
  for (let depth = 0; depth < 30; depth++) {
    mkdirSync(join(folder, `${depth}`));
    for (const name of ['x', 'y', 'z']) symlinkSync(`../${depth + 1}`, join(folder, `${depth}`, name));
  }
  t.is((await within(loadFlows([folder]), 'the load', 20_000)).files.length, 1);
});

test('a hub reports odd files in its folder, continues, reloads when they are gone, and ends immediately', async (t) => {
  const folder = await createFolder(t, { 'a.json5': { connections: { desk, api } } });
  const hub = await startHubProcessIn(t, folder, { args: ['--no-warm-up'] });
  for (const [index, odd] of oddFiles.entries()) {
    await replaceBy(odd, join(folder, 'odd.json5'), t);
    hub.process.kill('SIGHUP');
    await hub.logged(/odd\.json5: expected a file that can be read, got /, index + 1);
    t.is(await hub.get('parameters/desk/a'), 'desk/a: the state is unknown\n');
    rmSync(join(folder, 'odd.json5'), { recursive: true });
    hub.process.kill('SIGHUP');
  }
  await replaceBy(oddFiles[0]!, join(folder, 'odd.json5'), t);
  await hub.logged(/odd\.json5: expected .*a named pipe/, 3);
  hub.process.kill('SIGTERM');
  const startMs = performance.now();
  await hub.ended;
  t.true(performance.now() - startMs < 5000 * slowness());
});
