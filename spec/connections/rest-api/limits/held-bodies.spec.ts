// Thousands of bodies at once: of one address the hub keeps some and refuses the others, who learn it a second later. Nobody else is refused.

import test from 'ava';
import { limits } from '../../../../lib/connections/rest-api/limits/client-limits.ts';
import { held } from '../../../../lib/model/held-bytes.ts';
import { eventually } from '../../../support/deadline.ts';
import { openWire, request } from '../../../support/http.ts';
import { api, startTestHub } from '../../../support/hub.ts';

const json = { 'content-type': 'application/json' };
const body = JSON.stringify({ parameter: 'desk/text', value: 'x'.repeat(65_536 - 36) });
const kept = Math.floor(limits.heldBodies.default / 2 / (body.length - 1));
const bytes = request('POST /update', { headers: json, body });

test.serial('unfinished bodies of one address use at most half of heldBodies, and others have space', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: ['text'] } } });
  const all = await Promise.all(Array.from({ length: kept + 50 }, () => openWire(t, hub.port)));
  const sentMs = performance.now();
  for (const wire of all) wire.send(bytes.subarray(0, -1));
  const replies = all.map(async (wire) => ({
    wire,
    answer: await wire.answer(),
    tookMs: performance.now() - sentMs,
  }));

  const refused: Awaited<(typeof replies)[number]>[] = [];
  for (const one of replies) void one.then((it) => it.answer.status === 503 && refused.push(it));
  const other = await openWire(t, hub.port, undefined, {}, '127.0.0.2');
  other.send(bytes.subarray(0, 40_000));
  await eventually(() => refused.length >= 50);
  other.send(bytes.subarray(40_000));
  t.is((await other.answer()).status, 200);

  t.true(
    refused.every(({ tookMs }) => tookMs >= 1000),
    `${refused.map(({ tookMs }) => tookMs)}`,
  );
  const { answer } = refused[0]!;
  t.is(answer.headers['retry-after'], '1');
  t.is(answer.text, 'body: expected fewer request bodies at a time: too many are incomplete or waiting\n');
  const rest = all.filter((wire) => !refused.some((one) => one.wire === wire));
  for (const wire of rest) wire.send(bytes.subarray(-1));
  t.deepEqual(new Set((await Promise.all(replies)).map((one) => one.answer.status)), new Set([200, 503]));
  t.true(
    rest.length <= kept && rest.length > kept / 2,
    `${rest.length} of ${kept}: one that comes in pieces may be refused late`,
  );
  refused[0]!.wire.send(Buffer.concat([bytes.subarray(-1), bytes]));
  t.is((await refused[0]!.wire.answer()).status, 200, 'who was refused goes on');
  t.is(held.bytes.requests, 0);
  t.true(
    hub.lines.some(({ message }) => message.startsWith('client 127.0.0.1 exceeded the limit heldBodies')),
    'the log has it',
  );
});
