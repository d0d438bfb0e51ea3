// A hub that was stopped wakes up past its time, and first finds what clients have sent meanwhile: it writes nothing, and says so.

import test, { type ExecutionContext } from 'ava';
import type { HubPort } from '../../../lib/connections/hub-port.ts';
import { Vacancy } from '../../../lib/connections/nats/ownership/vacancy.ts';
import { connectionTypes } from '../../support/connection-types.ts';
import { createDecider } from '../../support/flow/decider.ts';
import { api, type HubUnderTest, startTestHub } from '../../support/hub.ts';
import { openClient } from '../../support/sockets/socket.ts';
import { openV1 } from '../../support/sockets/v1.ts';

/** A hub whose time is over, which it finds out when it is asked whether it may act. */
async function startLate(t: ExecutionContext): Promise<HubUnderTest> {
  let port: HubPort | undefined;
  const decider = createDecider((hub) => {
    port = hub;
  });
  const hub = await startTestHub(
    t,
    { connections: { decider: { type: 'decider' }, api, desk: { type: 'dummy', parameters: ['level,F,0'] } } },
    { types: new Map([...connectionTypes, ['decider', decider]]) },
  );
  const isFor = (connectionId: string) => connectionId === 'desk';
  const vacancy = new Vacancy({ port: port!, hub: 'west', reason: 'nobody runs it', isFor });
  let isOver = false;
  const mayAct = () => {
    if (isOver && hub.leadership.term !== undefined) {
      void hub.leadership.end('its time has expired');
      vacancy.begin(0);
    }
    return !isOver;
  };
  hub.leadership.begin({ number: 1, continues: true, mayAct });
  isOver = true;
  t.is(hub.find('desk/level')!.remote, undefined);
  return hub;
}

const level = { parameter: 'desk/level', value: '0.5' };
const writes: readonly [string, (t: ExecutionContext, hub: HubUnderTest) => Promise<string>][] = [
  ['POST /update', (_, hub) => update(hub, '', { method: 'POST', body: new URLSearchParams(level) })],
  ['GET /update', (_, hub) => update(hub, `?${new URLSearchParams(level)}`, {})],
  [
    'a plain socket',
    async (t, { port }) => {
      const client = await openClient(t, port);
      client.send({ p: 'desk/level', v: 0.5 });
      return `503 ${((await client.next()) as { error: string }).error}`;
    },
  ],
  [
    'patchbay.v1',
    async (t, { port }) => {
      const client = await openV1(t, port);
      client.send({ set: [['desk/level', 0.5]], ack: 1 });
      const reported = await client.until(({ ack }) => ack === 1, 'the answer');
      return `503 ${reported.at(-1)!.errors![0]![1]}`;
    },
  ],
];

async function update({ port }: HubUnderTest, query: string, init: RequestInit): Promise<string> {
  const headers = { accept: 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${port}/update${query}`, { ...init, headers });
  const { detail } = (await answer.json()) as { detail?: string };
  return `${answer.status} ${detail}`;
}

for (const [way, write] of writes)
  test(`a late write by ${way} is refused`, async (t) => {
    const hub = await startLate(t);
    const reported = await write(t, hub);
    t.regex(reported, /^503 desk\/level: (this hub no longer owns this parameter|nobody runs it)$/);
    t.is(hub.find('desk/level')!.value, 0);
    t.is(await write(t, hub), '503 desk/level: nobody runs it', 'and so is what comes later');
  });
