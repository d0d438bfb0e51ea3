import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { leftoverAgeMs, removeLeftovers, replaceFile } from '../../../lib/connections/xml-file-output/replace-file.ts';
import { createFolder } from '../../support/folder.ts';

const replaceFileUrl = new URL('../../../lib/connections/xml-file-output/replace-file.ts', import.meta.url).href;
/** When what is old was written last, in seconds. */
const long = (Date.now() - leftoverAgeMs) / 1000;
const replace = (path: string, text: string) => replaceFile(path, Buffer.from(text));

test('it makes a new file, and leaves nothing next to it', async (t) => {
  const folder = await createFolder(t);
  await replace(join(folder, 'out.xml'), 'one');
  t.is(readFileSync(join(folder, 'out.xml'), 'utf8'), 'one');
  t.is(statSync(join(folder, 'out.xml')).mode & 0o777, 0o666 & ~process.umask());
  t.deepEqual(readdirSync(folder), ['out.xml']);
});

test('it replaces a file, and keeps mode and owner', async (t) => {
  const path = join(await createFolder(t), 'out.xml');
  writeFileSync(path, 'one');
  if (process.getuid?.() === 0) chownSync(path, 65534, 65534);
  chmodSync(path, 0o660);
  const before = statSync(path);
  await replace(path, 'two');
  t.is(readFileSync(path, 'utf8'), 'two');
  const { ino, mode, uid, gid } = statSync(path);
  t.not(ino, before.ino);
  t.deepEqual([mode, uid, gid], [before.mode, before.uid, before.gid]);
});

test('it follows symbolic links, also relative ones and those to a missing file', async (t) => {
  const folder = await createFolder(t);
  mkdirSync(join(folder, 'real'));
  symlinkSync('real/out.xml', join(folder, 'link.xml'));
  symlinkSync(join(folder, 'link.xml'), join(folder, 'link-to-link.xml'));
  for (const text of ['one', 'two']) {
    await replace(join(folder, 'link-to-link.xml'), text);
    t.is(readFileSync(join(folder, 'real/out.xml'), 'utf8'), text);
    t.true(lstatSync(join(folder, 'link.xml')).isSymbolicLink());
  }
  t.deepEqual(readdirSync(join(folder, 'real')), ['out.xml']);
});

test('it reports why it cannot write, the same each time, and leaves nothing behind', async (t) => {
  const folder = await createFolder(t);
  mkdirSync(join(folder, 'out.xml'));
  symlinkSync('loop', join(folder, 'loop'));
  const rows = [
    ['missing/out.xml', 'no such file or directory (ENOENT)'],
    ['out.xml', 'it exists and is not a file'],
    ['loop', 'too many symbolic links encountered (ELOOP)'],
  ] as const;
  for (const [name, reason] of rows)
    for (let round = 0; round < 2; round++)
      await t.throwsAsync(replace(join(folder, name), ''), {
        message: `cannot write ${join(folder, name)}: ${reason}`,
      });
  t.deepEqual(readdirSync(folder).sort(), ['loop', 'out.xml']);
});

test('a disk that takes only half of the file keeps the old file, and no half of the new one', async (t) => {
  const folder = await createFolder(t);
  const path = join(folder, 'out.xml');
  writeFileSync(path, 'one');
  // A limit of the file size fails a write in its middle as a full disk does; only a process of its own can be limited.
  const script = `
    import { replaceFile } from ${JSON.stringify(replaceFileUrl)};
    await replaceFile(${JSON.stringify(path)}, Buffer.alloc(1_000_000)).catch(({ message }) => console.log(message));`;
  const limited = `trap '' XFSZ; ulimit -f 64; exec "$0" --input-type=module -e "$1"`;
  const message = execFileSync('sh', ['-c', limited, process.execPath, script], { encoding: 'utf8' });
  t.is(message.trim(), `cannot write ${path}: file too large (EFBIG)`);
  t.is(readFileSync(path, 'utf8'), 'one');
  t.deepEqual(readdirSync(folder), ['out.xml']);
});

test('it removes old files of a crash, and nothing else', async (t) => {
  const folder = await createFolder(t);
  const others = ['.other.xml.0123456789ab.part', '.out.xml.swp', '.out.xml.0123456789ab.part.bak', 'out.xml'];
  for (const name of [...others, '.out.xml.0123456789ab.part', '.out.xml.ba9876543210.part']) {
    writeFileSync(join(folder, name), '');
    utimesSync(join(folder, name), long, long);
  }
  others.push('.out.xml.0123456789cd.part'); // of another hub, under way
  writeFileSync(join(folder, '.out.xml.0123456789cd.part'), '');
  await removeLeftovers(join(folder, 'out.xml'));
  t.deepEqual(readdirSync(folder).sort(), others.sort());
});
