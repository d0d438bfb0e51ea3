// GET /hub/store: which folder it tells.

import { join } from 'node:path';
import { env } from 'node:process';
import test from 'ava';
import type { StoreStatus } from '../../../../lib/wire/http/past-shapes.ts';
import { eventually } from '../../../support/deadline.ts';
import { ask } from '../../../support/http.ts';
import { api, startTestHub } from '../../../support/hub.ts';

env.PATCHBAY_SPEC_FOLDER = './hidden-folder';

for (const folder of ['./data', { env: 'PATCHBAY_SPEC_FOLDER' }])
  test(`the folder ${JSON.stringify(folder)} is reported unless it is a secret, its files in any case`, async (t) => {
    const hub = await startTestHub(t, { connections: { api, store: { type: 'store', folder } } });
    await eventually(
      () => hub.persistence.archive?.storage !== undefined && hub.persistence.archive.audit !== undefined,
    );
    const status = JSON.parse((await ask(t, hub.port, 'GET /hub/store')).text) as StoreStatus;
    t.is(status.folder, typeof folder === 'string' ? join(hub.folder, folder) : '***');
    t.true(status.files.some(({ name }) => name === 'values.db'));
  });
