// The servers are gone: hubs go on with what is their own, of other hubs they show what was, and all of it heals by itself.

import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { confirmed, type HubUnderTest, startTestHub, statusOf, writer } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { needs } from '../../support/programs.ts';

needs('nats');

const valueAt = (hub: HubUnderTest, address: string) => hub.find(address)?.value;
const staleSince = (hub: HubUnderTest, address: string) => hub.find(address)?.remote?.staleSince;

/** What a write to a parameter of another hub comes to. */
async function write(hub: HubUnderTest, address: string, input: unknown): Promise<unknown> {
  const parameter = hub.find(address)!;
  const [reported] = await confirmed(() => hub.writeRemote(parameter.remote!, [{ parameter, input }], writer));
  return reported instanceof Error ? reported.message : reported;
}

test('without servers each hub does its own work, a pair only if configured so; later all have the values of the owners', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const start = (hub: string, house: object = {}) =>
    startTestHub(t, {
      connections: {
        house: { type: 'nats', servers: nats.urls, domain: 'd', hub, ...house },
        [hub]: { type: 'dummy', parameters: ['in,I,0', 'out,I,0'] },
      },
      rules: [{ from: `${hub}/in`, to: `${hub}/out` }],
    });
  const pair = { pair: true };
  const names = ['alone', 'other', 'stops', 'goes-on'];
  const [alone, other, stops, goesOn] = await Promise.all([
    start('alone'),
    start('other'),
    start('stops', pair),
    start('goes-on', { ...pair, isolated: 'go-on' }),
  ]);
  const hubs = [alone, other, stops, goesOn];
  const knowAll = (expected: number) =>
    hubs.every((hub) => names.every((name) => valueAt(hub, `${name}/out`) === expected));
  await eventually(() => knowAll(0));
  t.is(await write(other, 'alone/in', 1), 1);
  const reported = alone.lines.length;

  await nats.servers[0]!.kill();
  const goneAt = Date.now();
  await eventually(() => stops.leadership.term === undefined && staleSince(other, 'alone/in') !== undefined);
  t.true(staleSince(other, 'alone/in')! <= goneAt + 1000, 'since the owner was last heard of');
  t.is(await write(other, 'alone/in', 2), 'alone/in: hub "alone" is not reachable');
  t.is(valueAt(other, 'alone/in'), 1, 'it can still be read');
  t.regex(
    await write(stops, 'stops/in', 2).then(String),
    /^stops\/in: no hub currently runs the connections of "stops"/,
  );
  for (const [hub, name] of [
    [alone, 'alone'],
    [other, 'other'],
    [goesOn, 'goes-on'],
  ] as const) {
    hub.write(`${name}/in`, 7, writer);
    t.is(valueAt(hub, `${name}/out`), 7, name);
  }
  t.is(goesOn.leadership.term?.number, 1);
  t.like(statusOf(alone, 'house'), { state: 'degraded' });
  t.regex(statusOf(alone, 'house').reason, /^(lost|cannot reach) /);
  const late = await start('late');
  await eventually(() => late.leadership.term !== undefined);
  late.write('late/in', 7, writer);
  t.is(valueAt(late, 'late/out'), 7, 'also one that starts meanwhile');

  await nats.servers[0]!.start();
  await eventually(() => stops.leadership.term !== undefined);
  stops.write('stops/in', 7, writer);
  await eventually(() => knowAll(7) && valueAt(other, 'late/out') === 7 && valueAt(late, 'stops/in') === 7);
  t.is(await write(other, 'alone/in', 8), 8);
  t.is(await write(other, 'goes-on/in', 8), 8);
  t.is(await write(late, 'stops/in', 8), 8);
  t.true(hubs.every((hub) => names.every((name) => staleSince(hub, `${name}/out`) === undefined)));
  t.deepEqual(
    alone.lines.slice(reported).filter(({ level }) => level === 'error'),
    [],
  );
});
