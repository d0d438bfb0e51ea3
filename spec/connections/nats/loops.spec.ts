// Rules of two hubs that write one another for ever: the loop ends, and both hubs say which rules it was.

import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { type HubUnderTest, startTestHub, writer } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { needs } from '../../support/programs.ts';

needs('nats');

const rules = {
  west: { name: 'there', from: 'west/n', map: 'value + 1', to: 'east/n' },
  east: { name: 'back', from: 'east/n', map: 'value + 1', to: 'west/n' },
};
const loopOf = (hub: HubUnderTest) => hub.lines.find(({ message }) => message.startsWith('rule loop: '));

test('each of two rules writes the parameter of the other hub', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const start = (hub: 'west' | 'east') =>
    startTestHub(t, {
      connections: {
        house: { type: 'nats', servers: nats.urls, domain: 'd', hub },
        [hub]: { type: 'dummy', parameters: ['n,I,0'] },
      },
      rules: [rules[hub]],
    });
  const hubs = await Promise.all([start('west'), start('east')]);
  await eventually(() => hubs.every((hub) => hub.rules()[0]?.state === 'running'));
  hubs[0].write('west/n', 1, writer);
  await eventually(() => hubs.every((hub) => loopOf(hub) !== undefined), 'both hubs tell the loop');
  for (const hub of hubs) {
    t.regex(loopOf(hub)!.message, /^rule loop: ("there", "back"|"back", "there") wrote past 64 hops in one turn, /);
    await eventually(() => hub.rules()[0]?.state === 'limited');
    t.is(hub.rules()[0]!.dropped, 1, 'one write was dropped');
    t.regex(hub.rules()[0]!.reason, /^it loops: a write to (east|west)\/n was dropped$/);
  }
});
