// 100,000 parameters (D-27): a snapshot of all while they change delays nobody, and a resume costs what changed.

import test from 'ava';
import { api, startTestHub, writer } from '../../../../support/hub.ts';
import { openV1, Picture } from '../../../../support/sockets/v1.ts';
import { slowness } from '../../../../support/system/machine.ts';

const count = 100_000;

test('D-27: a snapshot of 100,000 parameters is right at its end, others get changes in time, and a resume is small', async (t) => {
  const parameters = Array.from({ length: count }, (_, index) => `p${index},I`);
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: [...parameters, 'mark,I'] } },
  });
  hub.turn(() => {
    for (let index = 0; index < count; index++) hub.write(`desk/p${index}`, index, writer);
  });
  const watcher = await openV1(t, hub.port);
  await watcher.subscribe({ sub: 1, include: ['desk/mark'] });
  const client = await openV1(t, hub.port, new Picture());
  const start = client.receivedBytes;
  let isComplete = false;
  const complete = client.subscribe({ sub: 1 }).then(() => {
    isComplete = true;
  });
  const latencies: number[] = [];
  for (let mark = 1; !isComplete; mark++) {
    for (let index = 0; index < 50; index++) hub.write(`desk/p${(mark * 50 + index * 1999) % count}`, -mark, writer);
    const before = performance.now();
    hub.write('desk/mark', mark, writer);
    await watcher.until(({ set }) => set?.some(([, value]) => value === mark) ?? false);
    latencies.push(performance.now() - before);
  }
  await complete;
  await client.sync();
  const snapshotBytes = client.receivedBytes - start;
  const isRight = (picture: Picture) =>
    [...hub.parameters()].every(({ address, value }) => picture.values.get(address) === value);
  t.true(isRight(client.picture));
  t.deepEqual(client.picture.faults, []);
  latencies.sort((one, other) => one - other);
  const median = latencies[Math.floor(latencies.length / 2)]!;
  t.true(latencies.length > 20, `${latencies.length} marks came during the snapshot`);
  t.true(median < 50 * slowness(), `median ${median} ms`);

  const { rev } = client.picture;
  client.cut();
  for (let index = 0; index < 1000; index++) hub.write(`desk/p${(index * 97) % count}`, -index - 1_000_000, writer);
  const resumed = await openV1(t, hub.port, client.picture);
  const before = resumed.receivedBytes;
  const [answer] = await resumed.subscribe({ sub: 1, since: { epoch: resumed.epoch, rev } });
  t.is(answer?.mode, 'resume');
  t.true(isRight(resumed.picture));
  const resumeBytes = resumed.receivedBytes - before;
  t.true(
    resumeBytes < 100_000 && resumeBytes < snapshotBytes / 30,
    `${resumeBytes} bytes, the snapshot had ${snapshotBytes}`,
  );
});
