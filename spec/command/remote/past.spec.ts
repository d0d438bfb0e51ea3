// `patchbay history` and `patchbay events` against a hub that has just recorded something; and texts that are hard to keep, on all ways
// out: these commands, JSON, CSV, and SQLite itself.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { events } from '../../../lib/command/remote/events-command.ts';
import { history } from '../../../lib/command/remote/history-command.ts';
import type { AuditPage, EventList, History } from '../../../lib/wire/http/past-shapes.ts';
import { deadlineMs, eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { ask } from '../../support/http.ts';
import { api, startTestHub, writer } from '../../support/hub.ts';

const nul = 'on\0air, "live"';

test('the commands print values, events and their authors; a NUL truncates no text for any reader', async (t) => {
  const folder = await createFolder(t);
  const hub = await startTestHub(t, {
    connections: {
      api,
      store: { type: 'store', folder },
      desk: { type: 'dummy', parameters: ['mic,B,false', 'lamp,B,false', 'level,F,1', 'text,S', 'go,T'] },
    },
    rules: [{ name: 'red light', from: 'desk/mic', to: 'desk/lamp' }],
  });
  const get = async <Type>(path: string) => JSON.parse((await ask(t, hub.port, `GET ${path}`)).text) as Type;
  for (const [address, value] of [
    ['desk/mic', true],
    ['desk/level', 2.5],
    ['desk/go', 1],
    ['desk/text', nul],
    ['desk/text', 'off'],
  ] as const)
    hub.write(address, value, writer);
  const texts = async () => (await get<History>('/hub/history/desk/text?from=-10s')).values ?? [];
  await eventually(async () => (await texts()).at(-1) === 'off', 'the last text is recorded');

  const print = async (command: (of: typeof options, console: object) => Promise<number>, more: object = {}) => {
    const lines: string[] = [];
    const reported: string[] = [];
    const console = {
      print: (text: string) => lines.push(...text.split('\n')),
      printError: (text: string) => reported.push(text),
    };
    t.is(await command({ ...options, ...more } as typeof options, console), 0);
    return {
      lines: lines.map((line) => line.replace(/^\d\d:\d\d:\d\d\.\d{3}/, 'TIME').replace(/\([^()]*\/flow/, '(flow')),
      reported,
    };
  };
  const options = { url: `http://127.0.0.1:${hub.port}`, username: '', password: '', token: '', from: '-1h' };
  const was = (address: string, more?: object) =>
    print((of, console) => history(address, of as never, console as never), more);
  const happened = (address: string, more?: object) =>
    print((of, console) => events(address, { limit: '100', ...of } as never, console as never), more);

  t.deepEqual(await was('desk/level'), { lines: ['TIME  1', 'TIME  2.5'], reported: [] });
  t.deepEqual((await was('desk/lamp')).lines, ['TIME  false', 'TIME  true']);
  t.deepEqual((await was('desk/go')).lines, ['TIME  fired']);
  const buckets = await was('desk/level', { points: '1' });
  t.regex(buckets.reported[0]!, /^each line covers \d+[a-z]+: raise --points or shorten the period for more detail$/);
  t.regex(buckets.lines.at(-1)!, /\(1 to 2\.5\), 2 changes$/);
  t.like(JSON.parse((await was('desk/level', { json: true })).lines.join('\n')), { values: [1, 2.5] });
  await t.throwsAsync(was('desk/level', { json: true, csv: true }), {
    message: '--csv, --json: expected only one of these options, got both',
  });
  await t.throwsAsync(was('desk/levle'), { message: /unknown parameter "desk\/levle", did you mean "desk\/level"\?/ });

  t.deepEqual((await happened('desk/lamp', { limit: '1' })).lines, [
    'TIME  desk/lamp = true (was false), set by rule "red light" (flow.json5)',
    'TIME    desk/mic = true, set by client spec',
  ]);
  t.deepEqual((await happened('desk/lamp', { limit: '1' })).reported, [
    '… earlier events omitted: raise --limit, or set an earlier --to',
  ]);
  t.like(JSON.parse((await happened('desk/go', { json: true })).lines.at(-1)!), { value: 1, writer: writer });

  t.true((await texts()).includes(nul));
  t.true((await was('desk/text', { csv: true })).lines.join('\n').includes('"on\0air, ""live"""'));
  const reported = await get<EventList>('/hub/events/desk/text');
  t.like(reported.events[0], { value: 'off', previous: nul });
  await eventually(
    async () => (await get<AuditPage>('/hub/audit?address=desk/text')).entries.length === 2,
    'the audit',
  );
  const audit = await get<AuditPage>('/hub/audit?address=desk/text');
  t.like(audit.entries, [{ before: nul, after: 'off' }, { after: nul }]);
  t.is((await get<AuditPage>('/hub/audit?text=LIVE')).entries.length, 2, 'also what comes behind a NUL is found');
  for (const [file, query] of [
    ['history', "SELECT CAST(value AS BLOB) AS value FROM event WHERE address = 'desk/text'"],
    ['audit', "SELECT CAST(after AS BLOB) AS value FROM entry WHERE address = 'desk/text'"],
  ]) {
    const database = new DatabaseSync(join(folder, `${file}.db`), { readOnly: true, timeout: deadlineMs });
    const rows = database.prepare(query!).all() as { value: Uint8Array }[];
    t.true(
      rows.some(({ value }) => Buffer.from(value).toString() === nul),
      file,
    );
    database.close();
  }
});
