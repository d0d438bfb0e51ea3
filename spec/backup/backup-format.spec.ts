// The archive of a backup: any tar reads it, and what is not whole, changed, or leads out of the folder is refused.

import { execFileSync } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readBackup } from '../../lib/backup/read-backup.ts';
import { decodeHeader, decodePax, encodeHeader, paddingOf } from '../../lib/backup/tar-header.ts';
import { backupBytes, writeBackup } from '../../lib/backup/write-backup.ts';
import { createFolder } from '../support/folder.ts';

const head = { patchbay: '0.1.0', time: '2026-11-22T07:13:00.337Z', run: ['flows'], absolute: [] };
const longPath = `${'größe/'.repeat(30)}flow.json5`;
const contents = { 'flows/a.json5': '{}', 'data/values.db': 'x'.repeat(300_000), [longPath]: 'long', empty: '' };

async function archiveOf(t: ExecutionContext, files: Readonly<Record<string, string>> = contents): Promise<Buffer> {
  const folder = await createFolder(t, Object.fromEntries(Object.values(files).map((text, n) => [String(n), text])));
  const staged = await Promise.all(
    Object.keys(files).map(async (path, n) => {
      const place = join(folder, String(n));
      return { path, place, size: (await stat(place)).size };
    }),
  );
  const archive = Buffer.concat([...writeBackup(head, staged)]);
  t.is(archive.length, backupBytes(head, staged), 'its length is known before');
  return archive;
}

/** Reads an archive that comes in pieces of a length. */
async function read(archive: Buffer, pieceBytes = 1000) {
  const files = new Map<string, string>();
  let open = '';
  const target = {
    begin: async (path: string) => {
      open = path;
      files.set(path, '');
    },
    write: async (bytes: Buffer) => void files.set(open, files.get(open) + bytes.toString()),
    end: async () => {},
  };
  const pieces = (async function* () {
    for (let at = 0; at < archive.length; at += pieceBytes) yield archive.subarray(at, at + pieceBytes);
  })();
  return { manifest: await readBackup(pieces, target), files };
}

test('a backup is read as it was written, in pieces of any length, also by tar', async (t) => {
  const archive = await archiveOf(t);
  for (const pieceBytes of [7, 512, 100_000]) {
    const { manifest, files } = await read(archive, pieceBytes);
    t.deepEqual(Object.fromEntries(files), contents);
    t.deepEqual(manifest.run, head.run);
  }
  const folder = await createFolder(t);
  await writeFile(join(folder, 'a.tar'), archive);
  execFileSync('tar', ['-xf', 'a.tar'], { cwd: folder });
  for (const [path, text] of Object.entries(contents)) t.is(await readFile(join(folder, path), 'utf8'), text, path);
});

test('a pax header has the size of a file of more than 8 GiB', (t) => {
  const size = 8 ** 11 + 5;
  const blocks = encodeHeader({ path: 'large', size }, 0);
  const pax = decodeHeader(blocks.subarray(0, 512));
  t.is(pax.kind, 'pax');
  t.deepEqual(decodePax(blocks.subarray(512, 512 + pax.size)), { size });
  t.like(decodeHeader(blocks.subarray(512 + pax.size + paddingOf(pax.size))), { kind: 'file', path: 'large' });
});

test('a backup that is cut anywhere is refused', async (t) => {
  const archive = await archiveOf(t, { a: 'x'.repeat(2000), b: 'y' });
  for (let length = 0; length < archive.length - 1024; length += 256)
    await t.throwsAsync(read(archive.subarray(0, length)), { code: 'bad-request' }, `${length} bytes`);
  await t.throwsAsync(read(archive.subarray(0, archive.length - 1024)), { message: /the backup is incomplete/ });
});

const changes: readonly (readonly [what: string, change: (archive: Buffer) => Buffer, message: RegExp])[] = [
  [
    'another byte in a file',
    (archive) => Buffer.from(archive).fill('z', 600, 601),
    /^a: expected 2000 bytes with the SHA-256/,
  ],
  [
    'another byte in a header',
    (archive) => Buffer.from(archive).fill('z', 3, 4),
    /expected a tar header, got other data$/,
  ],
  ['a file that is missing', (archive) => archive.subarray(512 + 2048), /^a: this file is missing from the backup$/],
  ['a file twice', (archive) => Buffer.concat([archive.subarray(0, 2560), archive]), /files, each once/],
  [
    'a file more',
    (archive) => Buffer.concat([encodeHeader({ path: 'c', size: 0 }, 0), archive]),
    /expected 2 files, got 3$/,
  ],
  ['no archive', () => Buffer.from('<!doctype html>'.repeat(100)), /expected a tar header/],
  ['a link', (archive) => Buffer.concat([linkOf(archive), archive]), /expected a file, got an entry of type "2"$/],
  ...['/etc/passwd', '../x', 'a/../../x', 'C:/x', 'a\\..\\x', './a', 'a//b'].map(
    (path) =>
      [
        `the path ${path}`,
        (archive: Buffer) => Buffer.concat([encodeHeader({ path, size: 0 }, 0), archive]),
        /^expected a path inside the folder, got "/,
      ] as const,
  ),
];

for (const [what, change, message] of changes)
  test(`a backup with ${what} is refused`, async (t) => {
    const archive = await archiveOf(t, { a: 'x'.repeat(2000), b: 'y' });
    await t.throwsAsync(read(change(archive)), { code: 'bad-request', message });
  });

/** The header of a symbolic link, with the sum that it has to have. */
function linkOf(archive: Buffer): Buffer {
  const block = Buffer.from(archive.subarray(0, 512));
  const sum = Number.parseInt(block.toString('latin1', 148, 154), 8) + '2'.charCodeAt(0) - '0'.charCodeAt(0);
  block.write('2', 156);
  block.write(sum.toString(8).padStart(6, '0'), 148);
  return block;
}

const manifests: readonly (readonly [text: string, message: RegExp])[] = [
  ['{', /^patchbay-backup\.json: expected JSON, but it cannot be parsed: /],
  ['null', /^patchbay-backup\.json: expected an object, got null$/],
  ['{"format":2}', /^patchbay-backup\.json: expected format 1, got 2 \(number\)$/],
  [
    JSON.stringify({ format: 1, ...head, files: [null] }),
    /^patchbay-backup\.json: files\.0: expected a value as written by patchbay backup, got /,
  ],
  [
    JSON.stringify({ format: 1, ...head, run: [5], files: [] }),
    /^patchbay-backup\.json: run\.0: expected a value as written by patchbay backup, got /,
  ],
];

for (const [text, message] of manifests)
  test(`a backup with the manifest ${text} is refused`, async (t) => {
    const path = 'patchbay-backup.json';
    const padding = Buffer.alloc(paddingOf(text.length));
    const archive = Buffer.concat([
      encodeHeader({ path, size: text.length }, 0),
      Buffer.from(text),
      padding,
      Buffer.alloc(1024),
    ]);
    await t.throwsAsync(read(archive), { code: 'bad-request', message });
  });
