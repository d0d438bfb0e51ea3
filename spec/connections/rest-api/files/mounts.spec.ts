// Which folders are on disks of this machine.

import { realpathSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { isOnLocalDisk } from '../../../../lib/connections/rest-api/files/reading.ts';
import { createFolder } from '../../../support/folder.ts';

/** A mount table of Linux: `/ ext4, /srv nfs4`. */
function mountTable(mounts: string): () => string {
  const line = (mount: string, index: number) => {
    const [path, type] = mount.split(' ');
    return `${index} 1 8:1 / ${path} rw - ${type} /dev/x rw\n`;
  };
  return () => mounts.split(', ').map(line).join('');
}

const verdicts: [mounts: string, isLocal: boolean][] = [
  ['/ ext4', true],
  ['/ overlay, /srv nfs4', true],
  ['/ nfs4', false],
  ['/ ext4, /studio nfs4', false],
  ['/ nfs4, /studio tmpfs', true],
  ['/ ext4, /studio ext4, /studio cifs', false],
  ['/ ext4, /studio/www/media fuse.sshfs', false],
  ['/ ext4, /studio/www-beside fuse.sshfs', true],
  ['/ ext4, /studio/www\\040beside 9p', true],
  ['/ something-new', false],
];
for (const [mounts, isLocal] of verdicts)
  test(`with the mounts ${mounts} a folder is ${isLocal ? '' : 'not '}on a local disk`, (t) => {
    t.is(isOnLocalDisk('/studio/www', mountTable(mounts)), isLocal);
  });

test('a link is followed to the disk of its target', async (t) => {
  const folder = realpathSync(await createFolder(t, { 'far/a.txt': '' }));
  await symlink('far', join(folder, 'link'));
  t.true(isOnLocalDisk(join(folder, 'link'), mountTable('/ ext4')));
  t.false(isOnLocalDisk(join(folder, 'link'), mountTable(`/ ext4, ${join(folder, 'far')} nfs4`)));
});
