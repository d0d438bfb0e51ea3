// Claims of several hubs, in a simulated time: who has all that it wants asks rarely, who does not asks each second, what
// happens while a hub looks is not missed, and servers that do not answer are not waited for.

import test from 'ava';
import type { LeaseRecord } from '../../../../lib/connections/nats/lease/lease-record.ts';
import type { Register } from '../../../../lib/connections/nats/lease/register.ts';
import { type ClaimList, Claims } from '../../../../lib/connections/nats/ownership/connection-claims.ts';
import { Time } from '../support/time.ts';

/** What servers do. */
const willing = {
  readClaims: true,
  writeClaims: true,
  readLeases: true,
  renewLeases: true,
  isReleased: false,
  areOpen: false,
  /** Hubs that reach no server. */
  away: [] as readonly string[],
};

/** One list for all hubs; it counts how often a hub has read it. */
function domain(time: Time, servers = willing) {
  let list: ClaimList = {};
  let sequence = 0;
  let hasLost = false;
  const leaseOf = (hub: string): Register<LeaseRecord> => ({
    async read() {
      if (!servers.readLeases) throw new Error('timeout');
      if (hasLost && servers.away.includes(hub)) return { sequence: 0, value: undefined };
      if (servers.isReleased) return { sequence: 1, value: { term: 1, holder: '', name: '', isReleased: true } };
      const sequence = servers.renewLeases ? time.now() : 1;
      return { sequence, value: { term: 1, holder: '', name: '', isReleased: false } };
    },
    replace: async () => undefined,
  });
  const lose = () => {
    list = {};
    sequence = 0;
    hasLost = true;
  };
  const join = (
    hub: string,
    wanted: () => Iterable<string>,
    mayClaim = () => true,
    heard = {},
    withoutTerm: ReadonlySet<string> = new Set(),
  ) => {
    const counts = { reads: 0, writes: 0 };
    const register: Register<ClaimList> = {
      async read() {
        counts.reads++;
        if (!servers.readClaims || servers.away.includes(hub)) throw new Error('timeout');
        return { sequence, value: sequence === 0 ? undefined : list };
      },
      async replace(value, known) {
        counts.writes++;
        if (!servers.writeClaims || servers.away.includes(hub)) throw new Error('timeout');
        if (known !== sequence) return undefined;
        list = value;
        return ++sequence;
      },
    };
    const claims = new Claims({
      hub,
      register,
      leaseOf,
      clock: time,
      wanted,
      mayClaim,
      reportedOwners: () => new Map(Object.entries(heard)),
      hasNoTerm: (name) => withoutTerm.has(name),
      holdsLease: () => servers.renewLeases,
      isOpen: () => servers.areOpen,
    });
    return { claims, counts };
  };
  const write = (value: ClaimList) => {
    list = value;
    sequence++;
  };
  return Object.assign(join, { lose, write, list: () => list });
}

/** A domain in which west has the desk. */
async function withWest() {
  const time = new Time();
  const servers = { ...willing };
  const join = domain(time, servers);
  join('west', () => ['desk']).claims.read();
  await time.run(100);
  return { time, servers, join };
}

test('a hub with all its connections asks rarely; a hub that lacks some asks each second, and gets released ones', async (t) => {
  const time = new Time();
  const join = domain(time);
  let wanted = ['desk'];
  const west = join('west', () => wanted);
  const east = join('east', () => ['desk', 'rack']);
  west.claims.read();
  await time.run(100);
  east.claims.read();
  await time.run(60_000);
  t.is(west.claims.refusals?.size, 0);
  t.deepEqual([...east.claims.refusals!.keys()], ['desk']);
  t.true(west.counts.reads <= 14, `${west.counts.reads} reads in a minute by who has all`);
  t.true(east.counts.reads >= 55, `${east.counts.reads} reads in a minute by who waits`);
  wanted = [];
  west.claims.hurry();
  await time.run(61_500);
  t.is(east.claims.refusals?.size, 0);
});

test('a connection that a hub adds during a claim is claimed without a pause', async (t) => {
  const time = new Time();
  const ids = ['desk'];
  const { claims } = domain(time)('west', () => {
    const asked = [...ids];
    if (ids.length === 1) {
      ids.push('rack');
      claims.hurry();
    }
    return asked;
  });
  claims.read();
  await time.run(100);
  t.deepEqual([...claims.owners.keys()], ['desk', 'rack']);
});

test('in a pair only the holder claims, even if the two want different connections: the standby reads', async (t) => {
  const time = new Time();
  const join = domain(time);
  let isMain = true;
  const main = join(
    'west',
    () => ['desk', 'rack'],
    () => isMain,
  );
  const standby = join(
    'west',
    () => ['desk'],
    () => !isMain,
  );
  for (const { claims } of [main, standby]) claims.read();
  await time.run(30_000);
  t.deepEqual([main.counts.writes, standby.counts.writes], [1, 0]);
  t.deepEqual([...standby.claims.owners.keys()], ['desk', 'rack']);
  t.is(standby.claims.refusals, undefined);
  isMain = false;
  standby.claims.hurry();
  await time.run(31_000);
  t.deepEqual([...standby.claims.owners.keys()], ['desk']);
  t.is(standby.claims.refusals?.size, 0);
});

test('a hub without an answer for 2 s runs its unclaimed connections, and then follows the list', async (t) => {
  const { time, servers, join } = await withWest();
  servers.readClaims = false;
  const wanted = ['desk', 'rack', 'shelf'];
  const heard: Record<string, string> = { rack: 'north' };
  const east = join(
    'east',
    () => wanted,
    () => true,
    heard,
  );
  east.claims.read();
  await time.run(2000);
  t.is(east.claims.refusals, undefined);
  await time.run(2400);
  t.deepEqual(Object.fromEntries(east.claims.owners), { desk: 'east', rack: 'north', shelf: 'east' });
  t.deepEqual(
    [...east.claims.refusals!.values()],
    [{ holder: 'north', reason: 'hub "north" also has a connection "rack"' }],
  );
  wanted.push('lamp');
  east.claims.hurry();
  await time.run(3400);
  t.is(east.claims.owners.get('lamp'), 'east');
  t.true(east.counts.reads < 20, `${east.counts.reads} reads`);
  delete heard.rack;
  await time.run(4400);
  t.is(east.claims.owners.get('rack'), 'east', 'nobody else is heard to have it any more');
  heard.rack = 'north';
  await time.run(5400);
  t.is(east.claims.owners.get('rack'), 'east', 'it has it by now');
  servers.readClaims = true;
  servers.writeClaims = false;
  await time.run(9000);
  t.deepEqual([...east.claims.refusals!.keys()], ['desk'], 'the list says so, though it cannot be written');
  servers.writeClaims = true;
  await time.run(11_000);
  t.deepEqual([...east.claims.refusals!.keys()], ['desk']);
  t.deepEqual(Object.fromEntries(east.claims.owners), {
    desk: 'west',
    rack: 'east',
    shelf: 'east',
    lamp: 'east',
  });
});

test('a list that is readable but not writable counts', async (t) => {
  const { time, servers, join } = await withWest();
  servers.writeClaims = false;
  const east = join('east', () => ['desk', 'rack']);
  east.claims.read();
  await time.run(2500);
  t.deepEqual([...east.claims.refusals!.keys()], ['desk']);
  t.is(east.claims.owners.get('rack'), 'east');
});

test('a hub that takes over has the last list immediately; a hub that yields, or stands by, takes nothing', async (t) => {
  const { time, servers, join } = await withWest();
  let isMain = false;
  const standby = join(
    'west',
    () => ['desk', 'rack'],
    () => isMain,
  );
  standby.claims.read();
  await time.run(6000);
  servers.readClaims = false;
  await time.run(30_000);
  t.is(standby.claims.refusals, undefined, 'it stands by');
  isMain = true;
  standby.claims.inherit();
  t.deepEqual([...standby.claims.refusals!.keys()], []);
  t.deepEqual(Object.fromEntries(standby.claims.owners), { desk: 'west' });
  const copy = join('west', () => ['desk', 'rack']);
  copy.claims.read();
  await copy.claims.yield('it is there already');
  await time.run(60_000);
  t.is(copy.claims.owners.size, 0);
});

test('a hub whose lease cannot be read or renewed is not considered gone', async (t) => {
  const { time, servers, join } = await withWest();
  const east = join('east', () => ['desk', 'rack']);
  east.claims.read();
  await time.run(3000);
  servers.readLeases = servers.renewLeases = false;
  await time.run(13_000);
  t.deepEqual([...east.claims.refusals!.keys()], ['desk'], 'and rack is its own');
  servers.readLeases = true;
  await time.run(20_000);
  t.is(east.claims.owners.get('desk'), 'west', 'it has some time to renew it');
  await time.run(24_000);
  t.is(east.claims.owners.get('desk'), 'east');
});

test('connections released by an ended run are left to the next run, which starts even without its lease', async (t) => {
  const { time, servers, join } = await withWest();
  const withoutTerm = new Set(['west']);
  const east = join(
    'east',
    () => ['desk'],
    () => true,
    {},
    withoutTerm,
  );
  servers.isReleased = true;
  east.claims.read();
  await time.run(20_000);
  t.deepEqual([...east.claims.refusals!.keys()], ['desk']);
  withoutTerm.clear(); // it is not heard of any more
  await time.run(22_000);
  t.is(east.claims.owners.get('desk'), 'east');
});

/** West and east have something each, and want the desk, which west has; then servers are away for 20 s, and have lost all. */
async function afterLoss() {
  const time = new Time();
  const servers = { ...willing };
  const join = domain(time, servers);
  const heard = { desk: 'north' };
  const west = join(
    'west',
    () => ['desk'],
    () => true,
    heard,
  );
  const hubs = { west, east: join('east', () => ['desk', 'rack']) };
  hubs.west.claims.read();
  await time.run(100);
  hubs.east.claims.read();
  await time.run(6000);
  servers.away = ['west', 'east'];
  await time.run(26_000);
  join.lose();
  /** Has a hub be back, and waits. */
  const back = async (hub: 'west' | 'east', ms: number) => {
    servers.away = servers.away.filter((one) => one !== hub);
    hubs[hub].claims.read();
    await time.run(time.now() + ms);
  };
  const desk = () => join.list().desk;
  return { time, servers, join, ...hubs, back, desk };
}

test('when servers have lost all data, the first returning hub takes nothing from a present hub, after any outage', async (t) => {
  const { join, west, east, back } = await afterLoss();
  await back('east', 50);
  t.deepEqual(join.list(), { desk: 'west', rack: 'east' });
  t.deepEqual([...east.claims.refusals!.keys()], ['desk']);
  await back('west', 30_000);
  t.deepEqual(join.list(), { desk: 'west', rack: 'east' });
  t.is(west.claims.refusals!.size, 0);
});

test('when servers have lost all data, the connections of a hub that does not return are free after 8 s', async (t) => {
  const { back, desk } = await afterLoss();
  await back('east', 7000);
  t.is(desk(), 'west');
  await back('east', 3000);
  t.is(desk(), 'east');
});

test('when servers have lost all data, a new hub returns a connection to its former owner, and later nobody takes it from that hub', async (t) => {
  for (const [ms, owner] of [
    [1000, 'west'],
    [30_000, 'north'],
  ] as const) {
    const { join, time, back, desk } = await afterLoss();
    const heard: Record<string, string> = {};
    const north = join(
      'north',
      () => ['desk', 'lamp'],
      () => true,
      heard,
    );
    north.claims.read();
    await time.run(time.now() + ms);
    t.is(desk(), 'north');
    heard.desk = 'west';
    await back('west', 8000);
    const owners = new Set<string | undefined>();
    for (let look = 0; look < 100; look++) {
      owners.add(desk());
      await time.run(time.now() + 100);
    }
    t.deepEqual([...owners], [owner], `back after ${ms} ms`);
  }
});

test('the hub that claimed a connection first takes it back from a hub that does not announce it', async (t) => {
  const time = new Time();
  const join = domain(time);
  const west = join('west', () => ['desk']);
  west.claims.read();
  await time.run(100);
  const states = new Set<boolean>();
  west.claims.refusals$.subscribe((refusals) => states.add(refusals?.has('desk') ?? false));
  join.write({ desk: 'evil' });
  west.claims.hurry();
  await time.run(5000);
  t.is(join.list().desk, 'west');
  t.deepEqual([...states], [false], 'it has run on');
});

test('a forged claim in a writable list is reverted immediately, even if the forger announces the connection', async (t) => {
  const time = new Time();
  const join = domain(time, { ...willing, areOpen: true });
  const heard: Record<string, string> = {};
  const west = join(
    'west',
    () => ['desk'],
    () => true,
    heard,
  );
  west.claims.read();
  await time.run(100);
  const states = new Set<boolean>();
  west.claims.refusals$.subscribe((refusals) => states.add(refusals?.has('desk') ?? false));
  heard.desk = 'evil';
  join.write({ desk: 'evil' });
  west.claims.hurry();
  await time.run(200);
  t.is(join.list().desk, 'west');
  t.deepEqual([...states], [false], 'it has run on');
});
