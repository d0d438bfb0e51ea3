// A write that follows a trace (W3C Trace Context): what it changes says so, in explain, in the audit and in the log.

import test, { type ExecutionContext } from 'ava';
import { readTraceparent, writeTraceparent } from '../../../../lib/connections/rest-api/tracing/traceparent.ts';
import type { Explanation } from '../../../../lib/wire/http/parameter-shapes.ts';
import { ask } from '../../../support/http.ts';
import { api, portsOf } from '../../../support/hub.ts';
import { openV1 } from '../../../support/sockets/v1.ts';
import { noted } from '../../../support/store/audit.ts';
import { install, type StoredHub } from '../../../support/store/store.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = '00f067aa0ba902b7';
const traceparent = `00-${trace}-${parent}-01`;

const noTraces = [
  ...['', '00', trace, `00-${trace}-${parent}`, `00-${trace}-${parent}-1`, `00-${trace}-${parent}-01-`],
  ...[
    `00-${trace}-${parent}-01-more`,
    `ff-${trace}-${parent}-01`,
    `cc-${trace}-${parent}-01.more`,
    `0-${trace}-${parent}-01`,
  ],
  ...[`00-${trace.toUpperCase()}-${parent}-01`, `00-${trace.slice(1)}-${parent}-01`, `00-${trace}-${parent}x-01`],
  ...[`00-${'0'.repeat(32)}-${parent}-01`, `00-${trace}-${'0'.repeat(16)}-01`, `00-${trace}-${parent}-0g`],
  ...[undefined, null, 1, {}, [traceparent]],
];

test('a traceparent is read by W3C Trace Context: later versions like the first one, without unknown flags', (t) => {
  for (const [text, expected] of [
    [traceparent, traceparent],
    [`00-${trace}-${parent}-00`, `00-${trace}-${parent}-00`],
    [`00-${trace}-${parent}-ff`, `00-${trace}-${parent}-03`],
    [`cc-${trace}-${parent}-01`, traceparent],
    [`cc-${trace}-${parent}-01-what-will-be`, traceparent],
  ] as const)
    t.is(writeTraceparent(readTraceparent(text)!), expected);
  for (const text of noTraces) t.is(readTraceparent(text), undefined, String(text));
});

const portOf = (hub: StoredHub) => portsOf(hub)[0]!;

/** The origins of what led to a parameter, newest first. */
async function originsOf(t: ExecutionContext, hub: StoredHub, address: string) {
  const { text } = await ask(t, portOf(hub), `GET /hub/explain/${address}`);
  return (JSON.parse(text) as Explanation).chain.map(({ origin }) => origin);
}

test('explain, audit and log show the trace of a change, also after a restart', async (t) => {
  const desk = { type: 'dummy', parameters: ['mic,B', 'light,B', 'level,I'] };
  const rules = [{ name: 'red light', from: 'desk/mic', to: 'desk/light' }];
  const installation = await install(t, { api, desk }, { rules });
  const hub = await installation.start();
  const port = portOf(hub);
  const client = { kind: 'client', name: 'api 127.0.0.1' };
  const traced = { ...client, traceparent };
  const headers = { traceparent, tracestate: 'vendor=dropped' };
  const type = { 'content-type': 'application/json' };

  for (const [target, body] of [
    ['GET /update?parameter=desk/mic&value=1', ''],
    ['POST /update', '{"parameter":"desk/mic","value":false}'],
  ] as const) {
    t.is(
      (await ask(t, port, target, body === '' ? { headers } : { headers: { ...headers, ...type }, body })).text,
      'OK',
    );
    const [rule, cause] = await originsOf(t, hub, 'desk/light');
    t.like(rule, { kind: 'rule', name: 'red light' });
    t.deepEqual(cause, traced, target);
  }
  const { parameters } = JSON.parse(
    `{"parameters":${(await ask(t, port, 'GET /hub/parameters?address=desk/mic')).text}}`,
  );
  t.deepEqual(parameters[0].origin, traced);

  let level = 0;
  const update = () => `GET /update?parameter=desk/level&value=${++level}`;
  for (const text of noTraces.filter((one) => typeof one === 'string')) {
    await ask(t, port, update(), { headers: { traceparent: text } });
    t.deepEqual(await originsOf(t, hub, 'desk/level'), [client], text);
  }
  await ask(t, port, update(), { headers: { traceparent, Traceparent: traceparent } });
  t.deepEqual(await originsOf(t, hub, 'desk/level'), [client], 'it came twice');

  const v1 = await openV1(t, port, undefined, headers);
  for (const text of [...noTraces.slice(0, -5), null, 1]) {
    v1.send({ set: [['desk/level', ++level]], ack: level, traceparent: text });
    t.deepEqual((await v1.next()).errors, []);
    t.deepEqual(await originsOf(t, hub, 'desk/level'), [client], `v1: ${text}`);
  }
  v1.send({
    set: [
      ['desk/level', ++level],
      ['desk/none', 1],
    ],
    ack: level,
    traceparent,
  });
  t.deepEqual((await v1.next()).errors, [['desk/none', 'unknown parameter']]);
  t.deepEqual(await originsOf(t, hub, 'desk/level'), [traced]);
  v1.send({ set: [['desk/mic', true]], ack: 0 });
  await v1.next();
  t.deepEqual((await originsOf(t, hub, 'desk/light'))[1], client, 'the next message follows no trace');

  const body = '{"rule":"red light","enabled":false}';
  t.is((await ask(t, port, 'POST /hub/rules', { headers: { ...headers, ...type }, body })).status, 200);
  await hub.logged(/was switched off by api 127\.0\.0\.1; traceparent 00-4bf9/);
  const restart = { headers: { ...headers, ...type }, body: '{"action":"restart"}' };
  t.is((await ask(t, port, 'POST /hub/connections/desk', restart)).status, 200);
  await noted(installation, ({ kind }) => kind === 'connection');
  t.notRegex((await ask(t, port, 'GET /hub/audit')).text, /dropped/, 'tracestate goes nowhere');
  const { entries } = JSON.parse((await ask(t, port, `GET /hub/audit?text=${trace}`)).text);
  t.deepEqual(
    entries.map(({ address, user, cause }: Record<string, string>) => [address, user, cause!.split('; ').at(-1)]),
    ['desk', 'red light', 'desk/level', 'desk/mic', 'desk/mic'].map((name) => [
      name,
      client.name,
      `traceparent ${traceparent}`,
    ]),
  );

  await hub.stop();
  const next = await installation.start();
  t.deepEqual((await originsOf(t, next, 'desk/level'))[1], traced);
});
