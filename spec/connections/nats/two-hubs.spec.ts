// Two hubs and a real NATS server: what one owns the other one shows, waits for, and has written by its owner.

import test, { type ExecutionContext } from 'ava';
import type { Change } from '../../../lib/model/parameter.ts';
import { eventually } from '../../support/deadline.ts';
import { api, confirmed, type HubUnderTest, startTestHub, writer } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { needs } from '../../support/programs.ts';
import { opcodes, openClient } from '../../support/sockets/socket.ts';
import { openV1 } from '../../support/sockets/v1.ts';

needs('nats');

const house = (servers: readonly string[], hub: string) => ({ type: 'nats', servers, domain: 'house', hub });

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** Updates a parameter over HTTP, following a trace: the status, and what the hub says. */
async function update({ port }: HubUnderTest, parameter: string, value: string): Promise<[number, string]> {
  const query = new URLSearchParams({ parameter, value });
  const answer = await fetch(`http://127.0.0.1:${port}/update?${query}`, {
    headers: { accept: 'application/json', traceparent },
  });
  const { v, detail } = (await answer.json()) as { v?: unknown; detail?: string };
  return [answer.status, detail ?? String(v)];
}

/** The same for a value as JSON has it, in the body of a request. */
async function post({ port }: HubUnderTest, parameter: string, json: string): Promise<[number, string]> {
  const answer = await fetch(`http://127.0.0.1:${port}/update`, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: `{"parameter":"${parameter}","value":${json}}`,
  });
  const { v, detail } = (await answer.json()) as { v?: unknown; detail?: string };
  return [answer.status, detail ?? String(v)];
}

/** What clients of WebSockets, a plain one and one of `patchbay.v1`, are told of such a value. */
async function mistakes(t: ExecutionContext, { port }: HubUnderTest, parameter: string, json: string) {
  const plain = await openClient(t, port);
  plain.send(`{"p":"${parameter}","v":${json}}`);
  const refusal = (await plain.frames.until(({ error }) => error !== undefined)).at(-1)!;
  const errors = await errorsOf(t, { port }, `[["${parameter}",${json}]]`);
  return [refusal.error, ...errors.map(([, text]) => text)];
}

/** What a client of `patchbay.v1` is told of such a `set`. */
async function errorsOf(t: ExecutionContext, { port }: Pick<HubUnderTest, 'port'>, set: string) {
  const v1 = await openV1(t, port);
  v1.sendRaw(opcodes.text, `{"set":${set},"ack":1}`);
  const answers = await v1.until(({ ack }) => ack === 1);
  return answers.flatMap(({ errors = [] }) => errors);
}

test('a hub shows the parameters of another one, and writes them there', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const east = await startTestHub(t, {
    connections: {
      house: house(nats.urls, 'east'),
      api,
      rack: { type: 'dummy', parameters: ['light,B', 'bell,T'] },
      core: { type: 'virtual-core', inputs: { mic: 'desk/mic' }, outputs: { not: { type: 'B', expression: '!mic' } } },
    },
    rules: [
      { name: 'light follows', from: 'desk/mic', to: 'rack/light' },
      { name: 'the bell starts the timer', from: 'rack/bell', to: 'clock/timer/1/start' },
    ],
  });
  await eventually(() => east.rules()[0]?.reason === 'no hub currently has desk/mic', 'the rule waits');
  t.is(east.rules()[0]?.state, 'waiting');
  await east.logged(/no connection "desk" here, so it is assumed to belong to another hub/);
  const west = await startTestHub(t, {
    connections: {
      house: house(nats.urls, 'west'),
      api,
      desk: { type: 'dummy', parameters: ['mic,B,false', 'level,F,0'] },
      clock: { type: 'timer', timers: [1000] },
    },
  });
  await eventually(() => east.find('rack/light')?.value === false, 'the rule has run');
  t.is(east.rules()[0]?.state, 'running');

  t.deepEqual(await confirmed(() => update(east, 'desk/mic', 'true')), [200, 'true']);
  t.is(west.find('desk/mic')?.value, true);
  await eventually(() => east.find('rack/light')?.value === true && east.find('core/not')?.value === false);
  const chain: string[] = [];
  for (let link: Change | undefined = east.find('rack/light')!.lastChange; link !== undefined; link = link.cause)
    chain.push(`${link.parameter.address} by ${link.origin.kind} of ${link.origin.hub ?? 'this hub'}`);
  t.deepEqual(chain, ['rack/light by rule of this hub', 'desk/mic by client of east']);
  for (const hub of [east, west]) t.is(hub.find('desk/mic')!.lastChange!.origin.traceparent, traceparent);

  for (const [parameter, value] of [
    ['desk/level', 'loud'],
    ['clock/timer/1/trigger', '1'],
    ['desk/none', '1'],
  ] as const)
    t.deepEqual(await confirmed(() => update(east, parameter, value)), await update(west, parameter, value), parameter);
  const deep = '['.repeat(30_000) + ']'.repeat(30_000);
  for (const parameter of ['desk/level', 'clock/timer/1/start'])
    for (const json of ['0.25', '"2"', 'null', '1e999', '-1e999', '{"a":[1]}', deep])
      t.deepEqual(
        await confirmed(() => post(east, parameter, json)),
        await post(west, parameter, json),
        `${parameter} ${json}`,
      );
  for (const hub of [east, west])
    t.deepEqual(await confirmed(() => mistakes(t, hub, 'desk/level', deep)), [
      `expected a number, got ${'['.repeat(57)}… (array)`,
      `expected a number, got ${'['.repeat(57)}… (array)`,
    ]);
  for (const json of ['-1', '"-1"', '"3000000000"'])
    t.deepEqual(
      await confirmed(() => mistakes(t, east, 'clock/timer/1/start', json)),
      await mistakes(t, west, 'clock/timer/1/start', json),
      json,
    );

  const mixed =
    '[["desk/level","loud"],["no/where",1],["desk/mic",true],["clock/timer/1/trigger",1],["rack/none",1],["desk/level",[]]]';
  const reported = await Promise.all([east, west].map((hub) => confirmed(() => errorsOf(t, hub, mixed))));
  t.deepEqual(reported[0], reported[1], 'as the owner tells them, in its order');
  t.deepEqual(
    reported[0]!.map(([target]) => target),
    ['desk/level', 'no/where', 'clock/timer/1/trigger', 'rack/none', 'desk/level'],
  );

  for (const start of [
    () => east.write('rack/bell', true, writer),
    () => confirmed(() => update(east, 'clock/timer/1/start', 'true')),
  ]) {
    west.write('clock/timer/1/start', 5, writer);
    await start();
    await eventually(() => west.find('clock/timer/1/start')?.value === 1000, 'for its default duration (D-07)');
  }

  t.is(west.find('core/not')?.remote?.hub, 'east');
  await nats.servers[0]!.kill('SIGKILL');
  await eventually(() => east.find('desk/mic')?.remote?.staleSince !== undefined, 'it is stale');
  t.is((await update(east, 'desk/mic', 'false'))[0], 503);
  west.write('desk/level', 0.5, writer);
  await nats.servers[0]!.start();
  await eventually(() => east.find('desk/level')?.value === 0.5, 'it is mended');
  t.is(east.find('desk/mic')?.remote?.staleSince, undefined);
});
