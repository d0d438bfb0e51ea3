// A file that the user of the hub may not read is an error with its path.
// This is a separate file because file modes do not bind root: run as root, the whole process switches to the user nobody.

import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { loadFlows } from '../../../lib/hub/index.ts';
import { createFolder } from '../../support/folder.ts';
import { asNobody } from '../../support/system/nobody.ts';

const desk = { type: 'dummy', parameters: ['a'] };

asNobody()('unreadable files are reported with their paths, beside the others', async (t) => {
  const folder = await createFolder(t, { 'a.json5': { connections: { desk } }, 'b/c.json5': {}, 'd.json5': '{ a' });
  chmodSync(join(folder, 'a.json5'), 0);
  chmodSync(join(folder, 'b'), 0);
  const { message } = (await t.throwsAsync(loadFlows([folder])))!;
  chmodSync(join(folder, 'b'), 0o700);
  const lines = message.split('\n').map((line) => line.slice(folder.length + 1));
  t.is(lines.length, 3, message);
  t.is(lines[0], 'b: expected a file that can be read, got one that the user of the hub may not read');
  t.is(lines[1], 'a.json5: expected a file that can be read, got one that the user of the hub may not read');
});
