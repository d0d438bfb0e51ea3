// Leases, in a simulated time in which hubs stop, messages are late and answers are lost.

import test from 'ava';
import fc from 'fast-check';
import { pairParts } from '../../../../lib/connections/nats/lease/lease-record.ts';
import { Servers, SimulatedHub } from '../support/simulated-hub.ts';
import { Time } from '../support/time.ts';

const hubCount = 3;

interface Fault {
  readonly kind: 'stop' | 'end' | 'cut' | 'mute' | 'unheard' | 'away';
  /** Which hub it is about; past the last one: the one that holds. */
  readonly hub: number;
  readonly at: number;
  readonly forMs: number;
  /** Which cell of the lease it is about, over and over again; past the last one: all of them. */
  readonly part: number;
}

/** A few faults of the hub that holds. */
const rare: fc.Arbitrary<Fault[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('stop', 'stop', 'end', 'cut', 'cut', 'mute', 'unheard', 'away'),
    hub: fc.constant(hubCount),
    at: fc.integer({ min: 0, max: 40_000 }),
    forMs: fc.integer({ min: 1, max: 12_000 }),
    part: fc.nat(pairParts.length),
  }),
  { minLength: 2, maxLength: 6 },
);
/** Each hub loses sight of each part again and again, so that none has all of them, or not for long. */
const dense: fc.Arbitrary<Fault[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('cut', 'cut', 'cut', 'cut', 'mute', 'away', 'stop'),
    hub: fc.nat(hubCount),
    at: fc.integer({ min: 0, max: 45_000 }),
    forMs: fc.integer({ min: 500, max: 12_000 }),
    part: fc.nat(pairParts.length),
  }),
  { minLength: 8, maxLength: 40 },
);

for (const [faults, count] of [
  ...[1, 2, 3, pairParts.length].map((parts) => [rare, parts] as const),
  ...[2, 3].map((parts) => [dense, parts] as const),
])
  test(`D-35: no two hubs ever hold a lease on ${count} cells, terms grow, and in the end one holds it, with ${faults === rare ? 'a few' : 'many'} faults`, async (t) => {
    await fc.assert(
      fc.asyncProperty(faults, fc.infiniteStream(fc.integer({ min: 0, max: 200 })), async (all, delays) => {
        const time = new Time();
        const parts = Array.from({ length: count }, () => new Servers());
        let isOver = false;
        const delay = () => (isOver ? 1 : delays.next().value);
        const hubs = Array.from({ length: hubCount }, (_, index) => new SimulatedHub(time, parts, index, delay));
        for (const hub of hubs) hub.peers = hubs;
        let last = { term: 0, holder: '' };
        const look = () => {
          // A hub that is stopped does nothing; one that runs looks before it does something.
          const holders = hubs.filter(({ isStopped, lease }) => !isStopped && lease.isHeld());
          t.true(holders.length <= 1, `${holders.length} hubs hold the lease at ${time.now()}`);
          for (const { lease } of holders) {
            const { state, ownName } = lease;
            if (state.is !== 'held') continue;
            const isSame = state.term === last.term && ownName === last.holder;
            t.true(
              isSame || state.term > last.term,
              `term ${state.term} of ${ownName} after ${last.term} of ${last.holder}`,
            );
            last = { term: state.term, holder: ownName };
          }
        };
        for (const fault of all)
          time.schedule(() => {
            const hub = hubs[fault.hub] ?? hubs.find(({ lease }) => lease.state.is === 'held') ?? hubs[0]!;
            set(hub, parts, fault, true, look);
            time.schedule(() => set(hub, parts, fault, false, look), fault.forMs);
          }, fault.at);
        for (let ms = 0; ms < 70_000; ms += 250) time.schedule(look, ms);
        let confirmed = 0;
        /** What a holder does before it acknowledges something: whoever begins later begins after that. */
        const confirm = async () => {
          const hub = hubs.find(({ isStopped, lease }) => !isStopped && lease.isHeld());
          const began = hub && { ...last };
          if (hub === undefined || !(await hub.lease.confirm())) return;
          confirmed++;
          t.deepEqual(last, began, `another hub has begun before it was confirmed at ${time.now()}`);
        };
        for (let ms = 0; ms < 66_000; ms += 700) time.schedule(() => void confirm(), ms);
        for (const hub of hubs) hub.start(look);
        await time.run(52_000);
        isOver = true;
        await time.run(66_000);
        t.is(hubs.filter(({ lease }) => lease.isHeld()).length, 1);
        t.true(confirmed > 0);
        for (const { lease } of hubs) lease.stop();
        await time.run(70_000);
      }),
      { numRuns: Number(process.env.LEASE_RUNS ?? 3) },
    );
  });

test('a lease on two cells is held as long as either one can be written, and taken 8 s after its holder was stopped', async (t) => {
  const time = new Time();
  const parts = [new Servers(), new Servers()];
  const hubs = [0, 1].map((index) => new SimulatedHub(time, parts, index, () => 5));
  hubs[0]!.lease.start();
  await time.run(1000);
  hubs[1]!.lease.start();
  const states: string[] = [];
  hubs[0]!.lease.state$.subscribe(({ is }) => states.push(is));
  for (let round = 0; round < 6; round++) {
    const away = parts[round % 2]!;
    time.schedule(() => Object.assign(away, { areThere: false }), 5000 + round * 12_000);
    time.schedule(() => Object.assign(away, { areThere: true }), 15_000 + round * 12_000);
  }
  await time.run(80_000);
  t.deepEqual(states, ['held'], 'nobody has seen anything of it');
  t.true(hubs[0]!.lease.isHeld());
  hubs[0]!.isStopped = true;
  await time.run(88_000);
  t.true(hubs[1]!.lease.isHeld());
  hubs[0]!.goOn();
  t.false(hubs[0]!.lease.isHeld());
  for (const { lease } of hubs) lease.stop();
  await time.run(92_000);
});

test('a renewal that is read late, because its stream had no leader, counts from its arrival', async (t) => {
  const latest = { heard: 0, read: 0 };
  for (const way of ['heard', 'read'] as const)
    for (let phase = 0; phase < 1000; phase += 100) {
      const time = new Time();
      const parts = [new Servers(), new Servers()];
      const [one, other] = [0, 1].map((index) => new SimulatedHub(time, parts, index, () => 5));
      if (way === 'heard') one!.peers = [other!];
      one!.start();
      await time.run(1000);
      other!.start();
      await time.run(9000 + phase);
      one!.isStopped = true;
      parts[1]!.areThere = false;
      await time.run(time.now() + 4800);
      parts[1]!.areThere = true;
      while (!other!.lease.isHeld()) await time.run(time.now() + 100);
      latest[way] = Math.max(latest[way], time.now() - 9000 - phase);
      other!.lease.stop();
      await time.run(time.now() + 2000);
    }
  t.true(latest.heard < 6500, `${latest.heard} ms`);
  t.true(latest.read > 8500, `${latest.read} ms`);
});

test('a hub that lacks some parts returns the others to their returned holder, which continues even if others cannot be written', async (t) => {
  for (const away of [[2], [3], [1, 2]]) {
    const time = new Time();
    const parts = pairParts.slice(0, 4).map(() => new Servers());
    const [one, other] = [0, 1].map((index) => new SimulatedHub(time, parts, index, () => 5));
    one!.peers = other!.peers = [one!, other!];
    one!.start();
    await time.run(1000);
    other!.start();
    const states: string[] = [];
    other!.lease.state$.subscribe(({ is }) => states.push(is));
    await time.run(9000);
    for (const servers of parts) one!.cut.add(servers);
    for (const index of away) parts[index]!.areThere = false;
    await time.run(20_000);
    t.false(one!.lease.isHeld());
    t.is(parts[0]!.value!.name, 'hub 1');
    t.is(parts[away[0]!]!.value!.name, 'hub 0', 'nobody could write it');
    one!.cut.clear();
    await time.run(21_500);
    t.true(one!.lease.isHeld(), `${away} are away`);
    t.like(one!.lease.state, { term: 1 });
    for (const servers of parts) servers.areThere = true;
    await time.run(30_000);
    t.true(one!.lease.isHeldByAll);
    t.false(states.includes('held'));
    one!.isStopped = true;
    await time.run(40_000);
    t.true(other!.lease.isHeld());
    for (const { lease } of [one!, other!]) lease.stop();
    await time.run(44_000);
  }
});

test('a holder that ends leaves the whole lease to its successor in one cell, regardless of the others', async (t) => {
  for (const away of [[], [0], [1], [2], [0, 1], [0, 2], [1, 2]]) {
    const time = new Time();
    const parts = [new Servers(), new Servers(), new Servers()];
    const [one, other] = [0, 1].map((index) => new SimulatedHub(time, parts, index, () => 5));
    one!.start();
    await time.run(1000);
    other!.start();
    time.schedule(() => {
      for (const index of away) parts[index]!.areThere = false;
    }, 4000);
    await time.run(9000);
    t.true(one!.lease.isHeld());
    one!.end();
    await time.run(9700);
    t.true(other!.lease.isHeld(), `${away} are away`);
    t.like(other!.lease.state, { is: 'held', term: 2 });
    for (const servers of parts) servers.areThere = true;
    await time.run(15_000);
    t.true(other!.lease.isHeldByAll);
    other!.lease.stop();
    await time.run(20_000);
  }
});

test('a write is confirmed by three cells, and by any other one 0.2 s later, as long as one can be written', async (t) => {
  const time = new Time();
  const parts = pairParts.map(() => new Servers());
  const hub = new SimulatedHub(time, parts, 0, () => 5);
  hub.start();
  await time.run(5500);
  t.true(hub.lease.isHeldByAll);
  const writes = () => parts.reduce((sum, { sequence }) => sum + sequence, 0);
  const before = writes();
  let isConfirmed: boolean | undefined;
  const confirm = () => void hub.lease.confirm().then((is) => (isConfirmed = is));
  confirm();
  await time.run(5550);
  t.true(isConfirmed);
  t.is(writes() - before, 3);
  for (const [left] of parts.entries()) {
    for (const [index, servers] of parts.entries()) servers.areThere = index === left;
    isConfirmed = undefined;
    confirm();
    await time.run(time.now() + 230);
    t.true(isConfirmed, `${left} can be written`);
    for (const servers of parts) servers.areThere = true;
    await time.run(time.now() + 5000);
    t.true(hub.lease.isHeldByAll);
  }
  hub.lease.stop();
  await time.run(time.now() + 2000);
});

test('of servers that lose the lease the holder takes it again, and nobody else before it may have run out', async (t) => {
  for (const [count, awayMs] of [1, 2].flatMap((parts) => [0, 1500, 3500, 6000].map((ms) => [parts, ms] as const))) {
    const time = new Time();
    const parts = Array.from({ length: count }, () => new Servers());
    const hubs = [0, 1, 2].map((index) => new SimulatedHub(time, parts, index, () => 5));
    for (const [index, { lease }] of hubs.entries()) time.schedule(() => lease.start(), 100 * index);
    const held: string[] = [];
    for (let ms = 0; ms < 20_000; ms += 20)
      time.schedule(() => {
        const holders = hubs.filter(({ lease }) => lease.isHeld()).map(({ lease }) => lease.ownName);
        t.true(holders.length <= 1, `${holders} hold the lease at ${time.now()}, away for ${awayMs}`);
        if (holders.length > 0 && holders[0] !== held.at(-1)) held.push(holders[0]!);
      }, ms);
    time.schedule(() => {
      for (const servers of parts) Object.assign(servers, { sequence: 0, value: undefined, areThere: awayMs === 0 });
      time.schedule(() => {
        for (const servers of parts) servers.areThere = true;
      }, awayMs);
    }, 5000);
    await time.run(20_000);
    if (awayMs === 0) t.deepEqual(held, ['hub 0']);
    t.is(hubs.filter(({ lease }) => lease.isHeld()).length, 1);
    for (const { lease } of hubs) lease.stop();
    await time.run(22_000);
  }
});

function set(
  hub: SimulatedHub,
  parts: readonly Servers[],
  { kind, part }: Fault,
  isOn: boolean,
  look: () => void,
): void {
  const one = parts[part % (parts.length + 1)];
  const all = one === undefined ? parts : [one];
  if (kind === 'end' && isOn) hub.end();
  else if (kind === 'end') hub.startAgain(look);
  else if (kind === 'stop' && !isOn) hub.goOn();
  else if (kind === 'stop') hub.isStopped = true;
  else
    for (const servers of all) {
      if (kind === 'away') servers.areThere = !isOn;
      else if (isOn) hub[kind].add(servers);
      else hub[kind].delete(servers);
    }
}
