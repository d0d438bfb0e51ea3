// GET /hub/audit and `patchbay audit`: who did what, as clients and operators ask for it.

import test from 'ava';
import { type AuditOptions, audit } from '../../../../lib/command/remote/audit-command.ts';
import type { AuditPage } from '../../../../lib/wire/http/past-shapes.ts';
import type { Problem } from '../../../../lib/wire/http/problem.ts';
import { eventually } from '../../../support/deadline.ts';
import { api, portsOf, startTestHub, writer } from '../../../support/hub.ts';
import { shared } from '../../../support/shared.ts';
import { install } from '../../../support/store/store.ts';

const desk = { type: 'dummy', parameters: ['lamp,B,false', 'bell,T', 'text,S'] };

const prepare = shared(async (t) => {
  const installation = await install(
    t,
    { api, desk },
    { rules: [{ name: 'rings', from: 'desk/bell', map: 'true', to: 'desk/lamp' }] },
  );
  const hub = await installation.start();
  const [port] = portsOf(hub);
  const get = async (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  await fetch(`http://127.0.0.1:${port}/update?parameter=desk/lamp&value=true`);
  hub.write('desk/bell', 1, { kind: 'client', name: 'other' });
  hub.write('desk/text', 'good morning', writer);
  hub.switchRule('rings', undefined, false, writer);
  const page = async (query: string) => (await (await get(`/hub/audit${query}`)).json()) as AuditPage;
  await eventually(async () => (await page('')).entries?.length === 5); // a question waits 100 ms for the disk, which may need longer
  return { get, page, port };
});

test('it lists actions, newest first, page by page, and filtered', async (t) => {
  const { get, page } = await prepare();
  const all = await page('');
  t.deepEqual(
    all.entries.map(({ kind, user, address, before, after, count }) => [kind, user, address, before, after, count]),
    [
      ['rule', 'spec', 'rings', undefined, 'off', 1],
      ['change', 'spec', 'desk/text', undefined, 'good morning', 1],
      ['fire', 'other', 'desk/bell', undefined, undefined, 1],
      ['change', 'api 127.0.0.1', 'desk/lamp', false, true, 1],
      ['start', 'hub', undefined, undefined, all.entries.at(-1)!.after, 1],
    ],
  );
  t.is(all.next, undefined);
  const lastHour = new Date().toISOString().slice(0, 16);
  t.true(all.entries.every(({ time }) => Math.abs(Date.parse(time) - Date.now()) < 60_000));
  const first = await page('?limit=2');
  t.deepEqual([first.entries.length, first.next], [2, first.entries[1]!.n]);
  t.deepEqual((await page(`?limit=3&before=${first.next}`)).entries, all.entries.slice(2));
  t.is((await page('?address=desk/*&user=OTHER')).entries.length, 1);
  t.is((await page('?text=morning&from=-1m&to=-0s')).entries.length, 1);
  t.is((await page('?kind=rule&address=&user=')).entries.length, 1);
  t.is((await page(`?${new URLSearchParams({ text: 'GOOD MORNING', user: 'spec' })}`)).entries.length, 1);
  t.is(
    (await page(`?user=api+127&text=true&from=${lastHour}+01:00`)).entries.length,
    1,
    'a plus is a space, but for that of a zone',
  );
  t.is((await page('?from=-2y&to=-1y')).entries.length, 0);
  const etag = (await get('/hub/audit?kind=fire')).headers.get('etag')!;
  t.truthy(etag);
});

test('an invalid query is refused with a sentence, and a hub without a store has no audit', async (t) => {
  const { get } = await prepare();
  const rows: [string, RegExp][] = [
    ['kind=none', /^kind: expected one of change, fire, .*, got "none" \(string\)$/],
    ['limit=1001', /^limit: expected an integer 1\.\.1000, got "1001" \(string\)$/],
    ['before=x', /^before: expected the number of an entry, got "x" \(string\)$/],
    ['from=soon', /^from: expected a time such as .*, got "soon" \(string\)$/],
    ['to=soon', /^to: expected a time/],
    ['from=-1h&to=-2h', /^from: expected a time before `to`/],
    [`text=${'x'.repeat(201)}`, /^text: expected at most 200 characters, got 201$/],
  ];
  for (const [query, expected] of rows) {
    const response = await get(`/hub/audit?${query}`);
    t.is(response.status, 400, query);
    t.regex(((await response.json()) as Problem).detail, expected);
  }
  const bare = await startTestHub(t, { connections: { api } });
  const response = await fetch(`http://127.0.0.1:${bare.port}/hub/audit`);
  t.is(response.status, 404);
  t.like(await response.json(), { code: 'not-found', detail: 'this hub has no store' });
});

test('the command prints a line for each, oldest first', async (t) => {
  const { port } = await prepare();
  const print = async (more: Partial<AuditOptions>) => {
    const lines: string[] = [];
    const console = {
      print: (text: string) => lines.push(text),
      printError: (text: string) => lines.push(`! ${text}`),
    };
    const options = {
      url: `http://127.0.0.1:${port}`,
      username: '',
      password: '',
      token: '',
      from: '-1h',
      limit: '1000',
    };
    t.is(await audit({ ...options, ...more }, console), 0);
    return lines;
  };
  const lines = await print({});
  const expected = [
    'hub {2}started patchbay \\S+: first start',
    'api 127\\.0\\.0\\.1 {2}desk/lamp = true \\(was false\\)',
    'other {2}desk/bell fired',
    'spec {2}desk/text = "good morning"',
    'spec {2}switched rule "rings" off: a rule of .*flow\\.json5',
  ];
  t.is(lines.length, expected.length, lines.join('\n'));
  for (const [index, line] of lines.entries())
    t.regex(line, new RegExp(`^(\\d{4}-\\d\\d-\\d\\d )?\\d\\d:\\d\\d:\\d\\d\\.\\d{3} {2}${expected[index]}$`));
  t.deepEqual((await print({ limit: '1' }))[0], '! … earlier entries omitted: raise --limit, or set an earlier --to');
  const [json] = await print({ json: true, address: 'desk/bell' });
  t.like(JSON.parse(json!), { kind: 'fire', user: 'other', address: 'desk/bell', count: 1 });
  await t.throwsAsync(print({ limit: 'all' }), { message: '--limit: expected an integer 1..9999999, got "all"' });
  await t.throwsAsync(print({ from: 'soon' }), { message: /^from: expected a time such as/ });
});
