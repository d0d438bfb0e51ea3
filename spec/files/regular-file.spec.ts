// Reading what people name: a file as a whole, or what is there in place of it; nothing waits and nothing is read without a bound.

import { execFileSync } from 'node:child_process';
import { appendFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { readTexts } from '../../lib/connections/rest-api/entrance/certificate.ts';
import { decodeUtf8, readRegularFile, readRegularFileSync } from '../../lib/files/regular-file.ts';
import { within } from '../support/deadline.ts';
import { createFolder } from '../support/folder.ts';
import { oddFiles, replaceBy } from '../support/odd-file.ts';

const maxBytes = 1024;

test('a file is read completely, up to its limit, also without a known length', async (t) => {
  const folder = await createFolder(t, { empty: '', full: 'x'.repeat(maxBytes), long: 'x'.repeat(maxBytes + 1) });
  for (const [name, length] of [
    ['empty', 0],
    ['full', maxBytes],
  ] as const) {
    t.is((await readRegularFile(join(folder, name), maxBytes)).length, length);
    t.is(readRegularFileSync(join(folder, name), maxBytes).length, length);
  }
  const reported = { message: 'one of 1,025 bytes or more; the hub reads at most 1,024' };
  await t.throwsAsync(readRegularFile(join(folder, 'long'), maxBytes), reported);
  t.throws(() => readRegularFileSync(join(folder, 'long'), maxBytes), reported);
  t.regex((await readRegularFile('/proc/self/status', 1e6)).toString(), /VmRSS/);
  await t.throwsAsync(readRegularFile('/proc/self/status', 10), { message: /^one of \d+ bytes or more/ });
});

test('any other object is reported, without delay', async (t) => {
  const folder = await createFolder(t);
  for (const odd of oddFiles) {
    const path = join(folder, 'odd');
    await replaceBy(odd, path, t);
    await t.throwsAsync(within(readRegularFile(path, maxBytes), odd.kind, 5000), { message: odd.reported }, odd.kind);
    t.throws(() => readRegularFileSync(path, maxBytes), { message: odd.reported }, odd.kind);
    t.throws(() => readTexts({ certFile: path, keyFile: path }), { message: /^tls\.certFile: / }, odd.kind);
  }
  await t.throwsAsync(readRegularFile(join(folder, 'none'), maxBytes), { message: 'none', code: 'ENOENT' });
  await t.throwsAsync(readRegularFile(join(folder, 'x'.repeat(300)), maxBytes), { message: 'a name that is too long' });
});

test('a file that becomes a pipe, grows or disappears during the read delays nothing', async (t) => {
  const folder = await createFolder(t);
  const [path, pipe, text] = ['file', 'pipe', 'text'].map((name) => join(folder, name)) as [string, string, string];
  for (let round = 0; round < 200; round++) {
    writeFileSync(text, 'x');
    renameSync(text, path);
    const reading = readRegularFile(path, maxBytes).then(String, ({ message }: Error) => message);
    if (round % 3 === 0) appendFileSync(path, 'y'.repeat(2 * maxBytes));
    else if (round % 3 === 1) rmSync(path);
    else {
      execFileSync('mkfifo', [pipe]);
      renameSync(pipe, path);
    }
    const reported = await within(reading, 'the read', 5000);
    t.regex(reported, /^(x|none|a named pipe|one of [\d,]+ bytes or more; the hub reads at most 1,024)$/);
  }
});

test('a link is followed, and bytes that are not UTF-8 are refused with their place', async (t) => {
  const folder = await createFolder(t, { file: 'ü' });
  symlinkSync('file', join(folder, 'link'));
  t.is(decodeUtf8(await readRegularFile(join(folder, 'link'), maxBytes)), 'ü');
  const wrong = Buffer.concat([Buffer.from('a\nü\u{1f600}b'), Buffer.from([0xc3])]);
  t.like(
    t.throws(() => decodeUtf8(wrong)),
    { message: 'bytes that are not UTF-8', position: { line: 2, column: 5 } },
  );
});
