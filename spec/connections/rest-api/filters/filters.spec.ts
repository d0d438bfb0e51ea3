// Which changes a WebSocket client hears of (S-11, D-05, D-28, D-15).

import test, { type ExecutionContext } from 'ava';
import { loadFlows } from '../../../../lib/hub/index.ts';
import { createFolder } from '../../../support/folder.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, expectQuietLog, portsOf, startTestHub } from '../../../support/hub.ts';
import { handshake, openClient } from '../../../support/sockets/socket.ts';
import { processorTimeOf } from '../../../support/system/machine.ts';

const parameters = ['lamp,I', 'LAMP,I', 'lamps/left,I', 'fader,I', 'end,I'];

const startDesk = (t: ExecutionContext, ...filters: string[][]) =>
  startTestHub(t, {
    connections: {
      ...Object.fromEntries(filters.map((webSocketFilters, index) => [`api-${index}`, { ...api, webSocketFilters }])),
      desk: { type: 'dummy', parameters },
      other: { type: 'dummy', parameters },
    },
  });

/** What a client hears when every parameter changes once; `other/end` is the last. */
async function hear(t: ExecutionContext, configured: string[], query = ''): Promise<string[]> {
  const hub = await startDesk(t, configured, []);
  const [port = 0] = portsOf(hub);
  const client = await openClient(t, port, query);
  const all = await openClient(t, portsOf(hub)[1]!);
  for (const { address } of hub.parameters()) all.send({ p: address, v: 1 });
  await all.frames.until(({ p }) => p === 'other/end');
  client.send({ p: 'last' });
  const heard = await client.frames.until(({ error }) => error !== undefined);
  return heard.slice(0, -1).map(({ p }) => p!);
}

const every = ['desk', 'other'].flatMap((id) => parameters.map((line) => `${id}/${line.split(',')[0]}`));
const rows: [configured: string[], query: string, heard: string[]][] = [
  [[], '', every],
  [['^desk/'], '', every.filter((address) => address.startsWith('desk/'))],
  [['lamp'], '', ['desk/lamp', 'desk/lamps/left', 'other/lamp', 'other/lamps/left']],
  [['lamp$'], '', ['desk/lamp', 'other/lamp']],
  [['LAMP'], '', ['desk/LAMP', 'other/LAMP']],
  [['k/lamp$', 'r/end'], '', ['desk/lamp', 'other/end']],
  [['nothing'], '', []],
  [['(?<=desk/)fader'], '', ['desk/fader']],
  [[], '?filter=^desk/lamp$', ['desk/lamp']],
  [[], '?filter=fader&filter=end', ['desk/fader', 'desk/end', 'other/fader', 'other/end']],
  [[], '?filter=(?i)^desk/lamp$', ['desk/lamp', 'desk/LAMP']],
  [[], '?filter=', every],
  [[], `?filter=${encodeURIComponent('^desk/(lamp|end)$')}`, ['desk/lamp', 'desk/end']],
  [['^desk/'], '?filter=lamp$', ['desk/lamp']],
  [['^desk/'], '?filter=^other/', []],
];
for (const [configured, query, heard] of rows)
  test(`D-05: with webSocketFilters ${JSON.stringify(configured)} and "${query}" a client hears of ${heard.length}`, async (t) => {
    t.deepEqual(await hear(t, configured, query), heard);
  });

test('D-05, D-06: filters limit the snapshot as well', async (t) => {
  const hub = await startDesk(t, ['^desk/']);
  for (const { address } of hub.parameters()) hub.write(address, 1, { kind: 'client', name: 'test' });
  const client = await openClient(t, hub.port, '?snapshot=true&filter=lamp$');
  client.send({ p: 'last' });
  t.deepEqual(await client.frames.until(({ error }) => error !== undefined).then((frames) => frames.slice(0, -1)), [
    { p: 'desk/lamp', v: '1' },
  ]);
});

test('D-05: a client may write parameters that its filter excludes', async (t) => {
  const hub = await startDesk(t, ['^desk/']);
  const client = await openClient(t, hub.port, '?filter=^desk/lamp$');
  client.send({ p: 'other/lamp', v: 7 });
  client.send({ p: 'desk/lamp', v: 8 });
  t.deepEqual(await client.next(), { p: 'desk/lamp', v: '8' });
  t.is(hub.find('other/lamp')?.value, 7);
});

test('D-28: clients come and go, each receives the changes that pass its own filter', async (t) => {
  const hub = await startDesk(t, []);
  const change = (address: string, value: number) => hub.write(address, value, { kind: 'client', name: 'test' });
  const lamp = await openClient(t, hub.port, '?filter=lamp$');
  change('desk/lamp', 1);
  t.deepEqual(await lamp.next(), { p: 'desk/lamp', v: '1' });
  const fader = await openClient(t, hub.port, '?filter=fader');
  const desk = await openClient(t, hub.port, '?filter=^desk');
  const lampToo = await openClient(t, hub.port, '?filter=lamp$');
  change('desk/lamp', 2);
  change('desk/fader', 3);
  for (const client of [lamp, lampToo]) t.deepEqual(await client.next(), { p: 'desk/lamp', v: '2' });
  t.deepEqual(await fader.next(), { p: 'desk/fader', v: '3' });
  t.deepEqual(
    [await desk.next(), await desk.next()],
    [
      { p: 'desk/lamp', v: '2' },
      { p: 'desk/fader', v: '3' },
    ],
  );
  lamp.close();
  await lamp.closed();
  const end = await openClient(t, hub.port, '?filter=end');
  change('desk/lamp', 4);
  change('desk/end', 5);
  change('desk/fader', 6);
  t.deepEqual(await lampToo.next(), { p: 'desk/lamp', v: '4' });
  t.deepEqual(await end.next(), { p: 'desk/end', v: '5' });
  t.deepEqual(await fader.next(), { p: 'desk/fader', v: '6' });
});

const bad: [query: string, sentence: RegExp][] = [
  ['filter=%28', /^filter: expected a regular expression, got "\(": /],
  ['filter=ok&filter=%5B', /^filter: expected a regular expression, got "\[": /],
  ['filter=(?%3C%3Da)b', /^filter: expected a regular expression, got /],
  ['filter=(a)%5C1', /^filter: expected a regular expression, got /],
  [
    'filter=a%7B1,100000%7D',
    /^filter: expected regular expressions of at most 1000 steps in total \(a part that is repeated n times/,
  ],
  ['filter=a%7B1001%7D', /^filter: expected a regular expression, got /],
  [`filter=${'a'.repeat(1025)}`, /^filter: expected at most 1024 characters, got 1025\n$/],
  [Array.from({ length: 17 }, () => 'filter=a').join('&'), /^filter: expected at most 16 patterns, got 17\n$/],
];
for (const [query, sentence] of bad)
  test(`D-15: /ws?${query.slice(0, 60)} is refused 400 before a socket opens`, async (t) => {
    const hub = await startDesk(t, []);
    const wire = await openWire(t, hub.port);
    wire.send(request(`GET /ws?${query}`, { headers: handshake() }));
    const { status, text } = await wire.answer();
    t.is(status, 400);
    t.regex(text, sentence);
    t.is((await ask(t, hub.port, 'GET /hub/')).status, 200);
    expectQuietLog(t, hub);
  });

test('D-15: no pattern of a client can stop the hub', async (t) => {
  const id = `${'a'.repeat(200)}b`;
  const hub = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: [id, 'end'] } } });
  const pattern = encodeURIComponent('(a|aa|a*)*$|(a+)+$|^desk/end$');
  const client = await openClient(t, hub.port, `?filter=${pattern}`);
  const tookMs = await processorTimeOf(async () => {
    hub.write(`desk/${id}`, 'x', { kind: 'client', name: 'test' });
    hub.write('desk/end', 'x', { kind: 'client', name: 'test' });
    await client.frames.until(({ p }) => p === 'desk/end');
  });
  t.true(tookMs < 1000, `${tookMs} ms`);
});

test('S-06: all bad expressions in webSocketFilters are named at load', async (t) => {
  const flow = { connections: { api: { type: 'rest-api', webSocketFilters: ['ok', '(', '*', 7] } } };
  const error = await t.throwsAsync(loadFlows([await createFolder(t, { 'flow.json5': flow })]));
  const lines = error.message.split('\n').map((line) => line.replace(/^.*flow\.json5:\d+:\d+: /, ''));
  t.is(lines.length, 3);
  t.regex(lines[0]!, /^connections\.api\.webSocketFilters\[1\]: expected a regular expression, got "\(": /);
  t.regex(lines[1]!, /^connections\.api\.webSocketFilters\[2\]: expected a regular expression, got "\*": /);
  t.is(lines[2], 'connections.api.webSocketFilters[3]: expected text, got 7 (number)');
});
