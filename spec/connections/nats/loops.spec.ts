// Rules of two hubs that write one another for ever: the loop ends, and both hubs say which rules it was.

import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { type HubUnderTest, startTestHub, writer } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { needs } from '../../support/programs.ts';

needs('nats');

const rule = { west: 'there', east: 'back' };
const loopOf = (hub: HubUnderTest) => hub.lines.find(({ message }) => message.startsWith('rule loop: '));

for (const [what, isOwn] of [
  ['each of two rules writes the parameter of the other hub', false],
  ['each of two rules writes the parameter of its own hub', true],
] as const)
  test(what, async (t) => {
    const nats = await startNats();
    t.teardown(() => nats.end());
    const start = (hub: 'west' | 'east') => {
      const [from, to] = (hub === 'west') === isOwn ? ['east/n', 'west/n'] : ['west/n', 'east/n'];
      return startTestHub(t, {
        connections: {
          house: { type: 'nats', servers: nats.urls, domain: 'd', hub },
          [hub]: { type: 'dummy', parameters: ['n,I,0'] },
        },
        rules: [{ name: rule[hub], from, map: 'value + 1', to }],
      });
    };
    const hubs = await Promise.all([start('west'), start('east')]);
    await eventually(() => hubs.every((hub) => hub.rules()[0]?.state === 'running'));
    hubs[0].write('west/n', 1, writer);
    await eventually(() => hubs.every((hub) => loopOf(hub) !== undefined), 'both hubs tell the loop');
    for (const hub of hubs) {
      t.regex(
        loopOf(hub)!.message,
        /^rule loop: ("there", "back"|"back", "there") made more than 64 hops in one turn; /,
      );
      await eventually(() => hub.rules()[0]?.state === 'limited');
      const { dropped } = hub.rules()[0]!;
      t.true(
        dropped === 1 || (isOwn && dropped === 2),
        'one write, and one when the hubs have first heard of one another',
      );
      t.regex(hub.rules()[0]!.reason, /^it loops: a write to (east|west)\/n was dropped$/);
    }
  });
