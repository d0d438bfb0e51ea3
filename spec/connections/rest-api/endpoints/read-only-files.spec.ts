// Flow files that the hub may not write: whoever opens one is told before he types, and no save is half done.
// Its own file, since the rights of a folder do not bind the administrator: as one, the whole process becomes nobody.

import { chmodSync, readdirSync } from 'node:fs';
import type { EditResult, SourceList } from '../../../../lib/wire/http/editing-shapes.ts';
import type { Problem } from '../../../../lib/wire/http/problem.ts';
import { Editors } from '../../../support/editors.ts';
import { api, startHubFrom } from '../../../support/hub.ts';
import { asNobody } from '../../../support/system/nobody.ts';

const testAsNobody = asNobody(true);

const token = 'owner-token-of-the-hub';
const files = {
  'entry.json5': {
    connections: {
      api: { ...api, users: { owner: { token, read: ['**'], write: ['**'], manage: true, edit: ['**'] } } },
      desk: { type: 'dummy', parameters: ['mic,B,false', 'lamp,B,false'] },
    },
  },
  'studio.json5': "{ rules: [{ name: 'lamp', from: 'desk/mic', to: 'desk/lamp' }] }\n",
};
const reason = 'the hub may not write this file or its folder: edit it by hand, or let the user of the hub write there';

testAsNobody(
  'a read-only folder is reported before an edit, refuses it with a sentence, and loses nothing',
  async (t) => {
    const hub = await startHubFrom(t, files);
    const editors = new Editors(hub);
    t.teardown(() => chmodSync(hub.folder, 0o755));
    const ops = [{ path: 'rules[0].map', set: '!value' }];
    const { etag } = await editors.source('studio.json5');
    const name = editors.name('studio.json5');
    const save = (mode: string) =>
      editors.post<EditResult & Problem>('/hub/edit', { file: name, base: etag, ops, mode });
    const fresh = { file: 'fresh.json5', base: '', ops: [{ path: '', text: '{ rules: [] }' }], mode: 'check' };
    t.deepEqual((await save('check')).body.warnings, []);

    chmodSync(hub.folder, 0o555);
    const before = readdirSync(hub.folder);
    const { body: list } = await editors.get<SourceList>('/hub/sources');
    t.true(list.files.every((one) => !one.canEdit && one.reason === reason));
    t.like(await editors.source('studio.json5'), { canEdit: false, reason, etag });
    const checked = await save('check');
    t.deepEqual(checked.body.warnings, [`${name}: ${reason}`]);
    t.deepEqual(checked.body.errors, []);
    t.like((await editors.post<EditResult>('/hub/edit', fresh)).body, {
      warnings: [`${editors.name('fresh.json5')}: ${reason}`],
    });
    const refused = await save('save');
    t.like(refused, { status: 403, body: { detail: `${name}: ${reason}` } });
    t.is(await editors.text('studio.json5'), files['studio.json5']);
    t.deepEqual(readdirSync(hub.folder), before);

    chmodSync(hub.folder, 0o755);
    t.like(await editors.source('studio.json5'), { canEdit: true, reason: '' });
    t.true((await save('save')).body.isSaved);
    t.is(await editors.text('studio.json5'), files['studio.json5'].replace(" to: '", " map: '!value', to: '"));
  },
);
