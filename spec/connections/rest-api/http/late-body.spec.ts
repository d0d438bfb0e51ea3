// Connections that send nothing, half a head, or a body drop by drop: uWebSockets.js cuts them after some ten seconds. What the hub sees
// of that it counts (docs/limits.md): a body that is late.

import { setTimeout as after } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { ask, openWire, request, type Wire } from '../../../support/http.ts';
import { api, expectHits, startTestHub } from '../../../support/hub.ts';

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const chunked = { ...form, 'transfer-encoding': 'chunked' };
const json = { 'content-type': 'application/json' };
const body = 'parameter=desk/i&value=5';
const announced = { ...form, 'content-length': String(body.length) };

const startDesk = (t: ExecutionContext) =>
  startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: ['i,I'] } } });

/** How many late bodies the hub has counted. */
async function lateBodies(t: ExecutionContext, port: number): Promise<number> {
  const { text } = await ask(t, port, 'GET /hub/metrics');
  t.notRegex(text, /limit="headMs"/);
  return Number(/^patchbay_limit_hits_total\{[^}]*limit="bodyMs"[^}]*\} (\d+)$/m.exec(text)![1]);
}

/** Sends drops until the other side has closed; returns what it had to say. */
async function drip(wire: Wire, drop: string): Promise<string> {
  const timer = setInterval(() => wire.socket.write(drop), 500);
  try {
    return (await wire.closed()).toString();
  } finally {
    clearInterval(timer);
  }
}

const rows: [what: string, start: string | Buffer, drop: string, late: number][] = [
  ['nothing at all', '', '', 0],
  ['a header drop by drop', 'GET / HTTP/1.1\r\nHost: localhost\r\nX: ', 'x', 0],
  ['the head of a body, and nothing of it', request('POST /update', { headers: announced }), '', 1],
  ['a body drop by drop', request('POST /update', { headers: { ...form, 'content-length': '1000' } }), 'x', 1],
  ['the head of chunks, and none', request('POST /update', { headers: chunked }), '', 1],
  ['chunks drop by drop', request('POST /update', { headers: chunked }), '1\r\nx\r\n', 1],
  ['a JSON body drop by drop', request('POST /hub/reload', { headers: { ...json, 'content-length': '1000' } }), ' ', 1],
];
for (const [what, start, drop, late] of rows)
  test(`${what}: the connection is cut without an answer, and ${late} late body is counted`, async (t) => {
    const hub = await startDesk(t);
    const wire = await openWire(t, hub.port);
    wire.send(start);
    const sinceMs = performance.now();
    t.is(await drip(wire, drop), '');
    const tookMs = performance.now() - sinceMs;
    t.true(tookMs > 7000 && tookMs < 40_000, `${tookMs} ms`);
    t.is(await lateBodies(t, hub.port), late);
    expectHits(t, hub, late === 0 ? [] : ['bodyMs']);
  });

test('a body that takes two seconds is answered; a client that leaves before its body is late is not counted', async (t) => {
  const hub = await startDesk(t);
  const leaving = await openWire(t, hub.port);
  leaving.send(request('POST /update', { headers: announced, body: body.slice(0, 5) }));
  const slow = await openWire(t, hub.port);
  slow.send(request('POST /update', { headers: announced, body: body.slice(0, 5) }));
  await after(2000);
  slow.send(body.slice(5));
  t.is((await slow.answer()).text, 'OK');
  leaving.socket.destroy();
  await slow.closed(); // idle for as long as a body may take
  t.is(await lateBodies(t, hub.port), 0);
  expectHits(t, hub, []);
});
