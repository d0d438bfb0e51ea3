// Answers while a write waits for another hub: they keep the order of the messages, and a ping waits for nothing.

import test, { type ExecutionContext } from 'ava';
import { Observable } from 'rxjs';
import { z } from 'zod';
import { defineGatewayType } from '../../../../../lib/connections/connection.ts';
import { HubError } from '../../../../../lib/model/error.ts';
import type { Remote } from '../../../../../lib/model/parameter.ts';
import type { ClientList } from '../../../../../lib/wire/http/operation.ts';
import { connectionTypes } from '../../../../support/connection-types.ts';
import { eventually } from '../../../../support/deadline.ts';
import { api, startTestHub } from '../../../../support/hub.ts';
import { type Message, openV1, type V1Client } from '../../../../support/sockets/v1.ts';

interface Connected {
  readonly client: V1Client;
  /** The other hub carries out all writes, or refuses all with this reason. */
  readonly answer: (refusal?: string) => void;
  /** How many messages the hub has received. */
  readonly received: () => Promise<number | undefined>;
}

/** A client of a hub that shows `far/lamp` of another one, which carries out no write until `answer` is called. */
async function connect(t: ExecutionContext): Promise<Connected> {
  const writing = Promise.withResolvers<readonly (boolean | Error)[]>();
  const remote: Remote = { hub: 'far', staleSince: undefined, write: () => writing.promise };
  const joined = defineGatewayType({
    type: 'joined',
    isExternal: true,
    settingsSchema: z.strictObject({}),
    parameters: () => [],
    run: (_, { mirroring }) =>
      new Observable((subscriber) => {
        const owner = { kind: 'connection', name: 'far', hub: 'far' } as const;
        mirroring.declare(remote, owner, { address: 'far/lamp', type: 'B', access: 'read-write' });
        subscriber.next({ state: 'running' });
      }),
  });
  const hub = await startTestHub(
    t,
    { connections: { api, house: { type: 'joined' }, desk: { type: 'dummy', parameters: ['level,F,0'] } } },
    { types: new Map([...connectionTypes, ['joined', joined]]) },
  );
  const client = await openV1(t, hub.port);
  const received = async () => {
    const { clients } = (await (await fetch(`http://127.0.0.1:${hub.port}/hub/clients`)).json()) as ClientList;
    return clients[0]?.receivedMessages;
  };
  const answer = (refusal?: string) => writing.resolve([refusal === undefined || new HubError('unavailable', refusal)]);
  return { client, answer, received };
}

/** What an answer is to. */
function subjectOf({ ack, error, errors, pong, sub }: Message): string {
  if (pong !== undefined) return `pong ${pong}`;
  if (error !== undefined) return `mistake ${ack ?? sub}`;
  return ack === undefined ? `errors ${errors?.length}` : `ack ${ack}`;
}

const isAnswer = (message: Message) => ['ack', 'error', 'errors', 'pong'].some((key) => key in message);

test('a mistake in a message is reported after the answers to earlier messages, and a ping is answered immediately', async (t) => {
  const { client, answer } = await connect(t);
  client.send({ set: [['far/lamp', true]], ack: 5 });
  client.send({ set: 'all', ack: 6 });
  client.send({ set: [['desk/none', 1]] });
  client.send({ sub: 1, include: 'all' });
  client.send({ set: [['desk/level', 1]], ack: 7 });
  t.deepEqual((await client.sync()).filter(isAnswer).map(subjectOf), ['pong 1']);
  answer();
  const reported = await client.until(({ ack }) => ack === 7, 'the last answer');
  t.deepEqual(reported.filter(isAnswer).map(subjectOf), ['ack 5', 'mistake 6', 'errors 1', 'mistake 1', 'ack 7']);
  client.send({ set: 'all', ack: 8 });
  t.deepEqual((await client.sync()).map(subjectOf), ['mistake 8', 'pong 2']);
});

test('at most 1,000 writes wait for another hub: further messages are received later', async (t) => {
  const { client, answer, received } = await connect(t);
  for (let ack = 0; ack < 1100; ack++) client.send({ set: [['far/lamp', true]], ack });
  await eventually(async () => (await received()) === 1000);
  t.is(client.messages.length, 0);
  answer();
  const reported = await client.until(({ ack }) => ack === 1099, 'the last answer');
  t.deepEqual(
    reported.map(subjectOf),
    Array.from({ length: 1100 }, (_, ack) => `ack ${ack}`),
  );
});

test('a client that does not read misses no answer of another hub', async (t) => {
  const { client, answer, received } = await connect(t);
  const asked = [...Array(900).keys()];
  for (const ack of asked) client.send({ set: [['far/lamp', true]], ack });
  await eventually(async () => (await received()) === asked.length);
  client.pause();
  answer('x'.repeat(16_000)); // all answers together are longer than what the hub keeps for who does not read
  for (let round = 0; round < 20; round++) await received();
  client.resume();
  const reported = await client.until(({ ack }) => ack === asked.at(-1), 'the last answer');
  t.deepEqual(
    reported.map(({ ack }) => ack),
    asked,
  );
});

test('a client that only sends invalid messages receives the waiting ones before it is closed', async (t) => {
  const { client, answer, received } = await connect(t);
  client.send({ set: [['far/lamp', true]], ack: 0 });
  for (let ack = 1; ack <= 101; ack++) client.send({ set: 'all', ack });
  await eventually(async () => (await received()) === 102);
  t.is(client.messages.length, 0);
  answer();
  t.is(await client.closed(), 4500);
  const reported = await client.until(({ ack }) => ack === 100, 'the last answer');
  t.deepEqual(reported.map(subjectOf), ['ack 0', ...Array.from({ length: 100 }, (_, index) => `mistake ${index + 1}`)]);
});
