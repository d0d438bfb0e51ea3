// Dashboards are JSON5 files of one folder, which are checked and answered as JSON. spec/dashboard holds their format.

import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ask } from '../../../support/http.ts';
import { api, expectQuietLog, startHubFrom } from '../../../support/hub.ts';

const start = (t: ExecutionContext, files: Record<string, unknown>, settings: object) =>
  startHubFrom(t, { 'flows/flow.json5': { connections: { api: { ...api, ...settings } } }, ...files });

/** The name of this folder starts with an underscore, so its files are no flow files. */
const at = (name: string) => `flows/_boards/${name}`;
const settings = { dashboards: '_boards' };

test('the JSON5 files of the folder are listed, and read as JSON', async (t) => {
  const hub = await start(
    t,
    {
      [at('studio 1.json5')]: "{ title: 'Studio', /* two */ widgets: [{ type: 'label', label: 'Desk' },], }",
      [at('büro.json5')]: '{ widgets: [] }',
      [at('notes.txt')]: '',
      [at('.hidden.json5')]: '{}',
      [at('deeper/other.json5')]: '{}',
    },
    settings,
  );
  await symlink(join(hub.folder, 'flows/flow.json5'), join(hub.folder, at('link.json5')));
  const names = await ask(t, hub.port, 'GET /hub/dashboards');
  t.deepEqual(JSON.parse(names.text), { dashboards: ['büro', 'studio 1'] });
  const board = await ask(t, hub.port, 'GET /hub/dashboards/studio%201');
  t.deepEqual([board.status, board.headers['content-type']], [200, 'application/json']);
  t.deepEqual(JSON.parse(board.text), {
    ...{ title: 'Studio', columns: 6, rows: 1, theme: 'auto', layouts: {} },
    widgets: [{ type: 'label', label: 'Desk', tone: 'neutral', at: [1, 1], size: [1, 1] }],
  });
  const headers = { 'if-none-match': board.headers.etag ?? '' };
  t.is((await ask(t, hub.port, 'GET /hub/dashboards/studio%201', { headers })).status, 304);
  t.is((await ask(t, hub.port, `GET /hub/dashboards/${encodeURIComponent('büro')}`)).status, 200);
  for (const name of ['other', 'link', '.hidden', 'notes', '..%2Fflow', '%2e%2e/flow', 'studio', 'deeper/other', '']) {
    const answer = await ask(t, hub.port, `GET /hub/dashboards/${name}`);
    t.deepEqual([answer.status, JSON.parse(answer.text).code], [404, 'not-found'], name);
  }
  expectQuietLog(t, hub);
});

test('an unknown name is answered with the nearest dashboard that the user may open', async (t) => {
  const users = { ann: { token: 'ann', dashboards: ['door'] }, root: { token: 'root', dashboards: ['**'] } };
  const files = { [at('studio.json5')]: '{ widgets: [] }', [at('door.json5')]: '{ widgets: [] }' };
  const hub = await start(t, files, { ...settings, users });
  const askAs = async (user: string, name: string) => {
    const answer = await ask(t, hub.port, `GET /hub/dashboards/${name}`, {
      headers: { authorization: `Bearer ${user}` },
    });
    return [answer.status, JSON.parse(answer.text).detail];
  };
  const none = 'no such dashboard';
  t.deepEqual(await askAs('root', 'studoi'), [404, `studoi: ${none}, did you mean "studio"?`]);
  t.deepEqual(await askAs('ann', 'studoi'), [404, `studoi: ${none}`]);
  t.deepEqual(await askAs('ann', 'studio'), [404, `studio: ${none}`]);
  t.deepEqual(await askAs('ann', 'dor'), [404, `dor: ${none}, did you mean "door"?`]);
  t.deepEqual(await askAs('root', 'constructor'), [404, `constructor: ${none}`]);
});

const mistakes: [text: string, detail: RegExp][] = [
  ["{\n  title: 'x',\n  widgets: [ }\n}", /^bad\.json5:3:14: expected ] to close \[, got }/],
  [
    "{\n  title: 'a',\n  widgets: [{ type: 'label', label: 'b',\n label: 'c' }],\n  title: 'd' }",
    /^bad\.json5:4:2: widgets\[0\]\.label: expected "label" once.*\nbad\.json5:5:3: title: expected "title" once/,
  ],
  ['{ widgets: [],\n  colums: 3 }', /^bad\.json5:2:3: colums: unknown setting "colums", did you mean "columns"\?$/],
  ['[1]', /^bad\.json5:1:1: expected object { … }, got \[1\] \(array\)$/],
  ['', /^bad\.json5:1:1: expected { … }, got an empty file/],
  [`{ a: '${'x'.repeat(1024 * 1024)}' }`, /^bad\.json5: expected at most 1048576 bytes, got 1048585$/],
];
for (const [text, detail] of mistakes)
  test(`a mistake in a dashboard is reported: ${detail.source.slice(0, 60)}`, async (t) => {
    const hub = await start(t, { [at('bad.json5')]: text }, settings);
    const answer = await ask(t, hub.port, 'GET /hub/dashboards/bad');
    t.is(answer.status, 500);
    t.is(answer.headers['content-type'], 'application/problem+json');
    t.regex(JSON.parse(answer.text).detail, detail);
    expectQuietLog(t, hub);
  });

test('without a folder, or with a missing one, there are no dashboards', async (t) => {
  for (const some of [{}, { dashboards: 'nowhere' }]) {
    const hub = await start(t, {}, some);
    t.deepEqual(JSON.parse((await ask(t, hub.port, 'GET /hub/dashboards')).text), { dashboards: [] });
    t.is((await ask(t, hub.port, 'GET /hub/dashboards/flow')).status, 404);
  }
});
