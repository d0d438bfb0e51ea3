// What docs/protocol.md "Subscribing" says of `all`: every change, in order, also while more is subscribed to.

import test from 'ava';
import { api, startTestHub, writer } from '../../../../support/hub.ts';
import { openV1 } from '../../../../support/sockets/v1.ts';

const plant = Array.from({ length: 20_000 }, (_, index) => `p${index},I,0`);
const rare = 0.1; // times a second: what changes meanwhile waits

for (const delivery of ['latest', 'all'] as const)
  test(`every change arrives in order during a large subscription (${delivery}) to the same parameter`, async (t) => {
    const desk = { type: 'dummy', parameters: ['level,I,0'] };
    const hub = await startTestHub(t, { connections: { api, plant: { type: 'dummy', parameters: plant }, desk } });
    const client = await openV1(t, hub.port);
    await client.subscribe({ sub: 1, include: ['desk/level'], delivery: 'all', rate: rare });
    hub.write('desk/level', 1, writer);
    await client.until(({ set }) => set !== undefined);
    client.send({ sub: 2, delivery });
    await client.until(({ sub }) => sub === 2);
    for (let value = 2; value < 10; value++) hub.write('desk/level', value, writer);
    await client.until(({ end }) => end === 2);
    const reported = client.picture.sequences.get('desk/level')!;
    t.deepEqual(reported.slice(reported.lastIndexOf(1)), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
