import { realpathSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createDisk, isOnLocalDisk } from '../../../../lib/connections/rest-api/files/disk.ts';
import type { Reading } from '../../../../lib/connections/rest-api/files/reading.ts';
import { createFolder } from '../../../support/folder.ts';

/** A mount table of Linux: `['/srv', 'nfs4']`. */
function mountTable(...mounts: (readonly [path: string, type: string])[]): () => string {
  return () => mounts.map(([path, type], index) => `${index} 1 8:1 / ${path} rw - ${type} /dev/x rw\n`).join('');
}

const verdicts: [mounts: [path: string, type: string][], isLocal: boolean][] = [
  [[['/', 'ext4']], true],
  [
    [
      ['/', 'overlay'],
      ['/srv', 'nfs4'],
    ],
    true,
  ],
  [[['/', 'nfs4']], false],
  [
    [
      ['/', 'ext4'],
      ['/tmp', 'nfs4'],
    ],
    false,
  ],
  [
    [
      ['/', 'nfs4'],
      ['/tmp', 'tmpfs'],
    ],
    true,
  ],
  [
    [
      ['/', 'ext4'],
      ['/tmp', 'ext4'],
      ['/tmp', 'cifs'],
    ],
    false,
  ],
  [
    [
      ['/', 'ext4'],
      ['/tmp/www/media', 'fuse.sshfs'],
    ],
    false,
  ],
  [
    [
      ['/', 'ext4'],
      ['/tmp/www-beside', 'fuse.sshfs'],
    ],
    true,
  ],
  [
    [
      ['/', 'ext4'],
      ['/tmp/www\\040beside', '9p'],
    ],
    true,
  ],
  [[['/', 'something-new']], false],
];
for (const [mounts, isLocal] of verdicts)
  test(`a folder of ${JSON.stringify(mounts)} is ${isLocal ? '' : 'not '}on a local disk`, (t) => {
    t.is(isOnLocalDisk('/tmp/www', mountTable(...mounts)), isLocal);
  });

test('a link is followed to the disk where it leads', async (t) => {
  const folder = realpathSync(await createFolder(t, { 'far/a.txt': '' }));
  await symlink('far', join(folder, 'link'));
  t.true(isOnLocalDisk(join(folder, 'link'), mountTable(['/', 'ext4'])));
  t.false(isOnLocalDisk(join(folder, 'link'), mountTable(['/', 'ext4'], [join(folder, 'far'), 'nfs4'])));
});

function* taking(ms: number, gauges: { time: number; reads: number }, reads = 1): Reading<string> {
  yield {
    now() {
      gauges.time += ms;
      gauges.reads += reads;
    },
    later: () => Promise.resolve(),
  };
  return 'read';
}

test('after three slow answers nobody waits for a disk any more, for a minute', async (t) => {
  const gauges = { time: 0, reads: 0 };
  const disk = createDisk(tmpdir(), {
    now: () => gauges.time,
    diskReads: () => gauges.reads,
    mountInfo: mountTable(['/', 'ext4']),
  });
  t.is(disk.read(taking(50, gauges)), 'read');
  for (let count = 0; count < 3; count++) t.is(disk.read(taking(51, gauges)), 'read');
  const later = disk.read(taking(1, gauges));
  t.true(later instanceof Promise);
  t.is(await later, 'read');
  gauges.time += 60_000;
  t.is(disk.read(taking(1, gauges)), 'read');
  for (let count = 0; count < 10; count++)
    t.is(disk.read(taking(51, gauges, 0)), 'read', 'the processor was elsewhere, no disk was read');
});
