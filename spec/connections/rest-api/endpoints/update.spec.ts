// Updating parameters by HTTP (S-08, D-02, D-13), well-formed and not.

import test, { type ExecutionContext } from 'ava';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, expectQuietLog, startTestHub } from '../../../support/hub.ts';
import { openClient } from '../../../support/sockets/socket.ts';

const form = 'application/x-www-form-urlencoded';
const json = 'application/json';

const startDesk = (t: ExecutionContext) =>
  startTestHub(t, {
    connections: {
      api,
      desk: { type: 'dummy', parameters: ['s', 'b,B', 'i,I', 'f,F', 'go,T', 'a b/ü&=+%,S'] },
      clock: { type: 'timer', timers: [70_000], pulses: [{ enabled: false }] },
    },
  });

const conversions: [id: string, value: string, written: unknown][] = [
  ['s', 'hällo 🎚', 'hällo 🎚'],
  ['s', '', ''],
  ['s', ' 1 ', ' 1 '],
  ['b', 'true', true],
  ['b', 'TRUE', true],
  ['b', '1', true],
  ['b', '0', false],
  ['b', 'yes', false],
  ['b', '', false],
  ['i', '42', 42],
  ['i', ' -42.9 ', -42],
  ['i', '1e3', 1000],
  ['f', '-0.25', -0.25],
  ['f', '1e-3', 0.001],
  ['go', '', 1],
  ['go', 'anything', 1],
];
for (const [id, value, written] of conversions)
  test(`D-02: by GET, form and JSON "${value}" is written to desk/${id} as ${JSON.stringify(written)}`, async (t) => {
    const hub = await startDesk(t);
    const query = `parameter=desk/${id}&value=${encodeURIComponent(value)}`;
    const answer = JSON.stringify({ p: `desk/${id}`, v: written });
    for (const [line, type, body] of [
      [`GET /update?${query}`, '', undefined],
      ['POST /update', form, query],
      ['POST /update', json, JSON.stringify({ parameter: `desk/${id}`, value })],
    ] as const) {
      const question = { headers: { 'content-type': type }, ...(body !== undefined && { body }) };
      const plain = await ask(t, hub.port, line, question);
      t.is(plain.status, 200);
      t.is(plain.text, 'OK');
      t.is(plain.headers['content-type'], 'text/plain; charset=utf-8');
      const headers = { ...question.headers, accept: json };
      const asJson = await ask(t, hub.port, line, { ...question, headers });
      t.is(asJson.headers['content-type'], json);
      t.is(asJson.text, answer);
    }
    if (id !== 'go') t.is(hub.find(`desk/${id}`)?.value, written as string);
  });

const jsonValues: [id: string, value: unknown, written: unknown][] = [
  ['s', 1.5, '1.5'],
  ['s', false, 'false'],
  ['b', 0.5, true],
  ['b', -1, false],
  ['i', 7.9, 7],
  ['i', true, 1],
  ['f', '2.5', 2.5],
];
for (const [id, value, written] of jsonValues)
  test(`D-02: the JSON value ${JSON.stringify(value)} is written to desk/${id} as ${JSON.stringify(written)}`, async (t) => {
    const hub = await startDesk(t);
    const body = JSON.stringify({ parameter: `desk/${id}`, value });
    const headers = { 'content-type': json, accept: json };
    const { text } = await ask(t, hub.port, 'POST /update', { headers, body });
    t.deepEqual(JSON.parse(text), { p: `desk/${id}`, v: written });
  });

test('D-01: an address with spaces, slashes and signs is updated percent-encoded, a plus is a space', async (t) => {
  const hub = await startDesk(t);
  const address = 'desk/a b/ü&=+%';
  await ask(t, hub.port, `GET /update?parameter=${encodeURIComponent(address)}&value=1+%2B+1`);
  t.is(hub.find(address)?.value, '1 + 1');
  const body = new URLSearchParams({ parameter: address, value: 'a=b&c' }).toString();
  await ask(t, hub.port, 'POST /update', { headers: { 'content-type': form }, body });
  t.is(hub.find(address)?.value, 'a=b&c');
});

test('S-08: other query parameters are ignored, in any order', async (t) => {
  const hub = await startDesk(t);
  t.is((await ask(t, hub.port, 'GET /update?_=17&value=3&x&=&parameter=desk%2Fi')).text, 'OK');
  t.is(hub.find('desk/i')?.value, 3);
});

for (const type of [`${form}; charset=UTF-8`, 'Application/X-WWW-Form-URLEncoded;charset="utf-8"'])
  test(`D-13: a body of ${type} is read`, async (t) => {
    const hub = await startDesk(t);
    const body = 'parameter=desk/i&value=3';
    t.is((await ask(t, hub.port, 'POST /update', { headers: { 'content-type': type }, body })).text, 'OK');
  });

test('S-03: a write-only parameter takes a write, the timer keeps its own rules (D-07)', async (t) => {
  const hub = await startDesk(t);
  const accept = { headers: { accept: json } };
  const start = (value: string) => ask(t, hub.port, `GET /update?parameter=clock/timer/1/start&value=${value}`, accept);
  t.is((await start('80000')).text, '{"p":"clock/timer/1/start","v":80000}');
  t.is((await start('soon')).text, '{"p":"clock/timer/1/start","v":70000}');
  const negative = await start('-1');
  t.is(negative.status, 400);
  t.like(JSON.parse(negative.text), { code: 'out-of-range', status: 400 });
});

const refusals: [query: string, status: number, sentence: RegExp][] = [
  ['', 400, /^query: expected parameter=<Connection ID>\/<Parameter ID>, got nothing\n$/],
  ['parameter=desk/i', 400, /^query: expected a value, got nothing\n$/],
  ['value=1', 400, /^query: expected parameter=/],
  ['parameter=&value=1', 400, /^query: expected parameter=.*, got "" \(string\)\n$/],
  ['parameter=desk/i&value=1&value=2', 400, /^query: expected value once, got several\n$/],
  ['parameter=desk/i&parameter=desk/f&value=2', 400, /^query: expected parameter once, got several\n$/],
  ['parameter=desk/i&value=%zz', 400, /^query: expected percent-encoded UTF-8, got "%zz"\n$/],
  ['parameter=desk/i&value=%C3', 400, /^query: expected percent-encoded UTF-8/],
  ['parameter=desk/i&value=loud', 400, /^expected a number, got "loud" \(string\)\n$/],
  ['parameter=desk/i&value=', 400, /^expected a number, got "" \(string\)\n$/],
  ['parameter=desk/i&value=1e400', 400, /^expected a number/],
  ['parameter=desk/i&value=9007199254740992', 400, /^expected an integer within ±\(2\^53−1\)/],
  ['parameter=desk/f&value=NaN', 400, /^expected a number/],
  ['parameter=desk/f&value=0x10', 400, /^expected a number/],
  ['parameter=clock/timer/1/trigger&value=1', 403, /^clock\/timer\/1\/trigger: expected a writable parameter/],
  ['parameter=clock/pulse/1&value=1', 403, /^clock\/pulse\/1: expected a writable parameter/],
  ['parameter=desk/nothing&value=1', 404, /^desk\/nothing: no parameter has this address/],
  ['parameter=__proto__/constructor&value=1', 404, /no parameter has this address/],
];
for (const [query, status, sentence] of refusals)
  test(`D-13: /update?${query} is answered ${status} by GET and form, in text and JSON`, async (t) => {
    const hub = await startDesk(t);
    const before = hub.revision;
    const plain = await ask(t, hub.port, `GET /update?${query}`);
    t.is(plain.status, status);
    t.regex(plain.text, sentence);
    const problem = await ask(t, hub.port, `GET /update?${query}`, { headers: { accept: json } });
    t.is(problem.headers['content-type'], 'application/problem+json');
    t.like(JSON.parse(problem.text), { status, detail: plain.text.trimEnd() });
    const posted = await ask(t, hub.port, 'POST /update', { headers: { 'content-type': form }, body: query });
    t.is(posted.status, status);
    t.is(posted.text, plain.text.replace(/^query:/, 'body:'));
    t.is(hub.revision, before);
    expectQuietLog(t, hub);
  });

const badBodies: [type: string, body: string | Uint8Array, status: number, sentence: RegExp][] = [
  [json, '', 400, /^body: expected JSON, but it cannot be parsed: /],
  [json, '{"parameter":"desk/i","value":', 400, /^body: expected JSON, but it cannot be parsed: /],
  [json, "{parameter:'desk/i',value:1}", 400, /^body: expected JSON, but it cannot be parsed: /],
  [json, 'null', 400, /^body: expected an object with parameter and value, got null\n$/],
  [
    json,
    '[["desk/i",1]]',
    400,
    /^body: expected an object with parameter and value, got \[\["desk\/i",1\]\] \(array\)\n$/,
  ],
  [json, '"desk/i"', 400, /^body: expected an object/],
  [json, '{}', 400, /^body: expected parameter=/],
  [json, '{"parameter":1,"value":1}', 400, /^body: expected parameter=.*, got 1 \(number\)\n$/],
  [json, '{"parameter":"desk/i"}', 400, /^body: expected a value, got nothing\n$/],
  [json, '{"parameter":"desk/i","value":null}', 400, /^expected a number, got null\n$/],
  [json, '{"parameter":"desk/s","value":{"a":1}}', 400, /^expected text, got \{"a":1\} \(object\)\n$/],
  [json, '{"parameter":"desk/s","value":[1]}', 400, /^expected text, got \[1\] \(array\)\n$/],
  [json, '{"parameter":"desk/i","value":1e999}', 400, /^expected a number, got Infinity/],
  [json, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 400, /^body: expected UTF-8, got invalid bytes\n$/],
  [form, Buffer.from('parameter=desk/s&value=\xff', 'latin1'), 400, /^body: expected UTF-8/],
  ['text/plain', 'parameter=desk/i&value=1', 415, /^Content-Type: expected .* in UTF-8, got "text\/plain"\n$/],
  ['', 'parameter=desk/i&value=1', 415, /^Content-Type: expected .*, got ""\n$/],
  [`${json}; charset=latin1`, '{}', 415, /^Content-Type: expected .*, got "application\/json; charset=latin1"\n$/],
  ['multipart/form-data; boundary=x', '--x--', 415, /^Content-Type: expected /],
];
for (const [type, body, status, sentence] of badBodies)
  test(`D-13: the body ${body} of "${type}" is answered ${status}`, async (t) => {
    const hub = await startDesk(t);
    const wire = await openWire(t, hub.port);
    wire.send(request('POST /update', { headers: { 'content-type': type }, body }));
    const answer = await wire.answer();
    t.is(answer.status, status);
    t.regex(answer.text, sentence);
    wire.send(request('GET /update?parameter=desk/i&value=8'));
    t.is((await wire.answer()).text, 'OK');
    t.is(hub.find('desk/i')?.value, 8);
    expectQuietLog(t, hub);
  });

test('S-11: the sockets receive an update by HTTP, but not an equal one', async (t) => {
  const hub = await startDesk(t);
  const client = await openClient(t, hub.port);
  for (const value of ['1', '1', '1.2', '2']) await ask(t, hub.port, `GET /update?parameter=desk/i&value=${value}`);
  t.deepEqual(await client.next(), { p: 'desk/i', v: '1' });
  t.deepEqual(await client.next(), { p: 'desk/i', v: '2' });
});
