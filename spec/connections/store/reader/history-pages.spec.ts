// What parameters were, what happened to them and who did it, asked over HTTP of a hub that has just recorded it.

import test, { type ExecutionContext } from 'ava';
import type { Value } from '../../../../lib/model/value.ts';
import type { EventList, History, HistoryList } from '../../../../lib/wire/http/past-shapes.ts';
import { eventually } from '../../../support/deadline.ts';
import { ask } from '../../../support/http.ts';
import { api, startTestHub, writer } from '../../../support/hub.ts';
import { shared } from '../../../support/shared.ts';

/** Each test has a desk of its own. */
const desks = ['told', 'counted', 'listed', 'caused', 'quoted', 'repeated', 'refused'] as const;
const parameters = ['mic,B,false', 'lamp,B,false', 'level,F,1', 'text,S', 'go,T', 'never,F', 'mark,I,0'];
const flow = {
  connections: {
    api,
    store: { type: 'store', folder: '_data' },
    ...Object.fromEntries(desks.map((id) => [id, { type: 'dummy', parameters }])),
  },
  rules: desks.flatMap((id) => [
    { name: `red light ${id}`, from: `${id}/mic`, to: `${id}/lamp` },
    { name: `say so ${id}`, from: `${id}/lamp`, map: "value ? 'on air' : '=off'", to: `${id}/text` },
  ]),
};
const startHub = shared((t) => startTestHub(t, flow));
/** Such an answer has everything up to the question: its points are finer than a second. */
const fine = 'from=-10s';

async function start(t: ExecutionContext, desk: (typeof desks)[number]) {
  const hub = await startHub();
  const text = async (path: string, headers = {}) => (await ask(t, hub.port, `GET ${path}`, { headers })).text;
  const json = async <Type>(path: string) => JSON.parse(await text(path)) as Type;
  const refused = async (path: string) => {
    const { status, headers, text } = await ask(t, hub.port, `GET ${path}`);
    const { code, detail } = JSON.parse(text) as { code: string; detail: string };
    return [status, code, detail, headers['retry-after']];
  };
  const write = async (...writes: [address: string, value: unknown][]) => {
    for (const [address, value] of writes) hub.write(address, value, writer);
    const mark = hub.write(`${desk}/mark`, Number(hub.find(`${desk}/mark`)!.value) + 1, writer);
    const isRecorded = async () => (await json<History>(`/hub/history/${desk}/mark?${fine}`)).values?.at(-1) === mark;
    await eventually(isRecorded, 'what was written is recorded');
  };
  await write();
  return { hub, text, json, refused, write };
}

test('numbers, booleans, texts and triggers are returned unchanged', async (t) => {
  const { json, write } = await start(t, 'told');
  await write(['told/level', 2], ['told/level', 2.5], ['told/level', -3]);
  await write(['told/mic', true], ['told/mic', false], ['told/mic', true], ['told/go', 1], ['told/go', 1]);
  const level = await json<History>(`/hub/history/told/level?from=-1h`);
  t.like(level, { address: 'told/level', type: 'F', kind: 'raw', gaps: [] });
  t.deepEqual(level.values, [1, 2, 2.5, -3]);
  t.deepEqual(level.times, [...level.times].sort());
  t.is(level.to - level.from, 3_600_000);
  const lamp = await json<History>(`/hub/history/told/lamp?from=-1h`);
  t.like(lamp, { kind: 'intervals' });
  t.deepEqual(lamp.values, [false, true, false, true]);
  const texts = await json<History>(`/hub/history/told/text?from=-1h&points=2`);
  t.like(texts, { kind: 'texts', more: true });
  t.deepEqual(texts.values, ['=off', 'on air']);
  const fires = await json<History>(`/hub/history/told/go?from=-1h`);
  t.like(fires, { kind: 'fires' });
  t.is(fires.times.length, 2);
  t.deepEqual((await json<History>(`/hub/history/told/never?from=-1h`)).values, []);
  const later = await json<History>(`/hub/history/told/level?from=${fires.times[1]}&points=1`);
  t.deepEqual([later.values, later.times[0]], [[-3], level.times[3]], 'what held at the start may be older than it');
});

test('a result above the requested number is returned in buckets', async (t) => {
  const { json, write } = await start(t, 'counted');
  await write(...Array.from({ length: 39 }, (_, index): [string, number] => ['counted/level', index + 2]));
  const { kind, stepMs, times, min, max, mean, counts } = await json<History>(
    `/hub/history/counted/level?from=-1h&points=3`,
  );
  t.is(kind, 'buckets');
  t.is(stepMs, 30 * 60_000);
  t.true(times.every((time) => time % stepMs! === 0));
  t.deepEqual([Math.min(...(min as number[])), Math.max(...(max as number[]))], [1, 40]);
  t.true(mean!.every((one, index) => one! >= min![index]! && one! <= max![index]!));
  t.is(
    counts!.reduce((sum, count) => sum + count),
    40,
  );
});

test('several parameters are requested together, page by page', async (t) => {
  const { json } = await start(t, 'listed');
  const names = ({ histories }: HistoryList) => histories.map(({ address }) => address);
  const all = await json<HistoryList>(`/hub/history?filter=^listed/l&filter=^listed/mic$&from=-1h`);
  t.deepEqual([names(all), all.more], [['listed/mic', 'listed/lamp', 'listed/level'], undefined]);
  const named = await json<HistoryList>(
    `/hub/history?address=listed/level&address=listed/none&address=listed/level&from=-1h`,
  );
  t.deepEqual(names(named), ['listed/level'], 'what nobody knows is left out');
  t.deepEqual(names(await json<HistoryList>(`/hub/history?filter=^listed/&after=listed/text&from=-1h`)), [
    'listed/go',
    'listed/never',
    'listed/mark',
  ]);
});

test('events have their writer, author and cause, page by page', async (t) => {
  const { json, write } = await start(t, 'caused');
  await write(['caused/mic', true], ['caused/mic', false]);
  const list = await json<EventList>('/hub/events/caused/text?limit=1');
  t.deepEqual(
    list.events.map(({ value, previous }) => [value, previous]),
    [['=off', 'on air']],
  );
  const [newest] = list.events;
  t.like(newest!.writer, { kind: 'rule', name: 'say so caused' });
  t.deepEqual(newest!.source, writer);
  t.deepEqual(
    newest!.chain.map(({ parameter, value, writer: { name } }) => [parameter, value, name]),
    [
      ['caused/lamp', false, 'red light caused'],
      ['caused/mic', false, 'spec'],
    ],
  );
  const older = await json<EventList>(`/hub/events/caused/text?limit=1&before=${list.next}`);
  t.deepEqual(
    older.events.map(({ value, previous }) => [value, previous]),
    [['on air', undefined]],
  );
  t.is(older.next, undefined);
  await write(...[1, 2, 3, 4, 5, 6, 7].map((level): [string, number] => ['caused/level', level]));
  const reported: Value[] = [];
  for (let page = '?limit=2'; page !== ''; ) {
    const { events, next } = await json<EventList>(`/hub/events/caused/level${page}`);
    reported.push(...events.map(({ value }) => value));
    page = next === undefined ? '' : `?limit=2&before=${next}`;
  }
  t.deepEqual(reported.slice(0, 7), [7, 6, 5, 4, 3, 2, 1], 'no page but the last one is the last');
});

test('CSV is safe for spreadsheets: no text is a formula', async (t) => {
  const { text, write } = await start(t, 'quoted');
  await write(['quoted/level', -3], ['quoted/text', '=off'], ['quoted/text', '"quoted", and\nmore']);
  const time = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z';
  const line = (...fields: string[]) => fields.join(',');
  const lines = [
    'address,time,value,min,mean,max,count',
    line('quoted/level', time, '1', ',,,'),
    line('quoted/level', time, '-3', ',,,'),
    line('quoted/text', time, "'=off", ',,,'),
    line('quoted/text', time, '"""quoted"", and\nmore"', ',,,'),
    '',
  ];
  const csv = await text(`/hub/history?address=quoted/level&address=quoted/text&from=-1h`, { accept: 'text/csv' });
  t.regex(csv, new RegExp(`^${lines.join('\r\n')}$`));
  t.is(
    csv,
    (await text(`/hub/history?address=quoted/level&address=quoted/text&from=-1h&format=csv`)).slice(0, csv.length),
  );
});

test('a conditional request uses the ETag of an answer, and HEAD returns its length', async (t) => {
  const { hub, json } = await start(t, 'repeated');
  const { to } = await json<History>(`/hub/history/repeated/level?from=-1h`);
  const path = `/hub/history/repeated/level?from=${to - 10_000}&to=${to}`;
  const first = await ask(t, hub.port, `GET ${path}`);
  t.regex(first.headers.etag!, /^"[\w-]+"$/);
  const again = await ask(t, hub.port, `GET ${path}`, { headers: { 'if-none-match': first.headers.etag! } });
  t.deepEqual([again.status, again.text], [304, '']);
  const head = await ask(t, hub.port, `HEAD ${path}`);
  t.deepEqual([head.status, head.headers['content-length']], [200, String(first.body.length)]);
});

test('invalid queries are refused with a sentence', async (t) => {
  const { refused } = await start(t, 'refused');
  const nearest =
    'unknown parameter "refused/levle", did you mean "refused/level"?: neither the hub nor its history contains it';
  t.deepEqual(await refused('/hub/history/refused/levle'), [404, 'unknown-parameter', nearest, undefined]);
  t.deepEqual(await refused('/hub/events/refused/levle'), [404, 'unknown-parameter', nearest, undefined]);
  for (const [query, sentence] of [
    ['points=0', 'points: expected an integer 1..10000, got "0" (string)'],
    ['points=1e3', 'points: expected an integer 1..10000, got "1e3" (string)'],
    ['from=-1h&to=-2h', 'from: expected a time before `to`, got "-1h" (string), which is later'],
    ['format=xml', 'format: expected json or csv, got "xml" (string)'],
  ] as const)
    t.deepEqual(await refused(`/hub/history/refused/level?${query}`), [400, 'bad-request', sentence, undefined]);
  t.like(await refused('/hub/history/refused/level?from=yesterday'), { 0: 400, 1: 'bad-request' });
  t.like(await refused('/hub/history?filter=('), { 0: 400, 1: 'bad-request' });
  t.deepEqual(await refused('/hub/events/refused/level?limit=1001'), [
    400,
    'bad-request',
    'limit: expected an integer 1..1000, got "1001" (string)',
    undefined,
  ]);
  t.like(await refused('/hub/events/refused/level?before=x'), { 0: 400, 1: 'bad-request' });
});

test('a hub without a store reports that', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: ['a,I,0'] } } });
  for (const path of ['/hub/history/desk/a', '/hub/history', '/hub/events/desk/a']) {
    const { status, text } = await ask(t, hub.port, `GET ${path}`);
    t.deepEqual([status, JSON.parse(text).detail], [404, 'this hub has no store']);
  }
});
