// Edge hubs own nothing and serve dashboards: when one dies, its dashboards go on at another one.

import test from 'ava';
import { connect } from '../../../lib/client/index.ts';
import { eventually } from '../../support/deadline.ts';
import { api, confirmed, startTestHub, writer } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { needs } from '../../support/programs.ts';
import { startHubProcess } from '../../support/system/hub-process.ts';

needs('nats');

const parameters = Array.from({ length: 100 }, (_, index) => `n${index},I,0`);

test('a dashboard of an edge hub that is killed goes on at another one of its list, with a complete picture', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const flowOf = (hub: string, connections: object) => ({
    connections: { house: { type: 'nats', servers: nats.urls, domain: 'd', hub }, ...connections },
  });
  const owner = await startTestHub(t, flowOf('owner', { desk: { type: 'dummy', parameters } }));
  const [first, second] = await Promise.all([
    startHubProcess(t, flowOf('first', { api })),
    startTestHub(t, flowOf('second', { api })),
  ]);
  const dashboard = connect([first.url, `http://127.0.0.1:${second.port}`], { firstPauseMs: 10, longestPauseMs: 50 });
  t.teardown(() => dashboard.close());
  const desk = dashboard.select({ include: ['desk/**'] });
  desk.subscribe(() => {});
  const shows = () =>
    !dashboard.stale &&
    desk.parameters.size === parameters.length &&
    [...owner.parameters()].every(
      ({ address, value }) => !address.startsWith('desk/') || desk.parameters.get(address)?.value === value,
    );
  await dashboard.whenLive();
  await eventually(shows);
  await confirmed(() => dashboard.set('desk/n0', 1));
  await eventually(() => desk.parameters.get('desk/n0')?.value === 1);

  process.kill(first.pid, 'SIGKILL');
  await eventually(() => dashboard.stale, 'the break is shown');
  for (let index = 1; index < 50; index++) owner.write(`desk/n${index}`, index, writer);
  await eventually(shows, 'all that the owner has');
  t.is(dashboard.state.name, 'live');
  await confirmed(() => dashboard.set('desk/n99', 7));
  t.is(owner.find('desk/n99')?.value, 7);
  await eventually(shows);
});
