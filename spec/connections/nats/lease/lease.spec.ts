// Leases, in a simulated time in which hubs stop, messages are late and answers are lost; and the same cells in a real server.

import { connect } from '@nats-io/transport-node';
import test from 'ava';
import fc from 'fast-check';
import type { SchedulerLike } from 'rxjs';
import { filter } from 'rxjs/operators';
import type { Cell } from '../../../../lib/connections/nats/lease/cell.ts';
import { Lease, type LeaseRecord, parseLease } from '../../../../lib/connections/nats/lease/lease.ts';
import { createStreamCell } from '../../../../lib/connections/nats/lease/stream-cell.ts';
import { monotonicScheduler } from '../../../../lib/hub/scheduler.ts';
import { eventually, first } from '../../../support/deadline.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';
import { Time } from '../support/time.ts';

needs('nats');

/** A register that servers keep, which answer late or not at all. */
class Servers {
  sequence = 0;
  value: LeaseRecord | undefined;
  areThere = true;
}

interface Fault {
  readonly kind: 'stop' | 'cut' | 'mute' | 'away';
  readonly at: number;
  readonly forMs: number;
}

/** A hub whose process can be stopped: nothing of it runs meanwhile, and its clock goes on. */
class SimulatedHub {
  readonly #time: Time;
  readonly #servers: Servers;
  isStopped = false;
  isCut = false;
  isMute = false;
  #waiting: (() => void)[] = [];
  readonly clock: SchedulerLike;
  readonly lease: Lease;
  #delays: () => number;

  constructor(time: Time, servers: Servers, index: number, delays: () => number) {
    this.#time = time;
    this.#servers = servers;
    this.#delays = delays;
    this.clock = {
      now: () => time.now(),
      schedule: (work, delayMs = 0) =>
        time.schedule(function () {
          wake(() => (work as () => void).call(this));
        }, delayMs),
    };
    const wake = (work: () => void) => this.#awake(work);
    this.lease = new Lease(this.#cell(), { id: `${index}`, name: `hub ${index}` }, this.clock);
  }

  goOn(): void {
    this.isStopped = false;
    for (const work of this.#waiting.splice(0)) work();
  }

  #awake(work: () => void): void {
    if (this.isStopped) this.#waiting.push(work);
    else work();
  }

  #cell(): Cell<LeaseRecord> {
    const servers = this.#servers;
    return {
      read: () => this.#ask(() => ({ sequence: servers.sequence, value: servers.value })),
      replace: (value, sequence) =>
        this.#ask(() => {
          if (sequence !== servers.sequence) return undefined;
          servers.value = value;
          return ++servers.sequence;
        }),
    };
  }

  /** The servers do it some time later, and the answer needs some time more; both ways may be cut. */
  #ask<T>(work: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.clock.schedule(() => reject(new Error('timeout')), 1000);
    const isLost = this.isCut;
    this.#time.schedule(() => {
      if (isLost || !this.#servers.areThere) return;
      const answer = work();
      if (this.isMute) return;
      this.#time.schedule(() => this.#awake(() => resolve(answer)), this.#delays());
    }, this.#delays());
    return promise;
  }
}

const faults: fc.Arbitrary<Fault[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('stop', 'stop', 'cut', 'cut', 'mute', 'away'),
    at: fc.integer({ min: 0, max: 40_000 }),
    forMs: fc.integer({ min: 1, max: 12_000 }),
  }),
  { minLength: 2, maxLength: 6 },
);

test('no two hubs ever hold a lease, terms grow, and in the end one holds it', async (t) => {
  await fc.assert(
    fc.asyncProperty(faults, fc.infiniteStream(fc.integer({ min: 0, max: 200 })), async (all, delays) => {
      const time = new Time();
      const servers = new Servers();
      let isOver = false;
      const delay = () => (isOver ? 1 : delays.next().value);
      const hubs = [0, 1, 2].map((index) => new SimulatedHub(time, servers, index, delay));
      let lastTerm = 0;
      const look = () => {
        // A hub that is stopped does nothing; one that runs looks before it does something.
        const holders = hubs.filter(({ isStopped, lease }) => !isStopped && lease.isHeld());
        t.true(holders.length <= 1, `${holders.length} hubs hold the lease at ${time.now()}`);
        for (const { lease } of holders) {
          const { state } = lease;
          if (state.is !== 'held') continue;
          t.true(state.term >= lastTerm, `term ${state.term} after ${lastTerm}`);
          lastTerm = state.term;
        }
      };
      for (const { kind, at, forMs } of all)
        time.schedule(() => {
          const hub = hubs.find(({ lease }) => lease.state.is === 'held') ?? hubs[0]!;
          set(hub, servers, kind, true);
          time.schedule(() => set(hub, servers, kind, false), forMs);
        }, at);
      for (let ms = 0; ms < 60_000; ms += 250) time.schedule(look, ms);
      for (const { lease } of hubs) {
        lease.state$.subscribe({ next: look });
        lease.start();
      }
      await time.run(52_000);
      isOver = true;
      await time.run(60_000);
      t.is(hubs.filter(({ lease }) => lease.isHeld()).length, 1);
      for (const { lease } of hubs) lease.stop();
      await time.run(62_000);
    }),
    { numRuns: 25 },
  );
});

test('of servers that lose the lease the holder takes it again, and nobody else before it may have run out', async (t) => {
  for (const awayMs of [0, 1500, 3500, 6000]) {
    const time = new Time();
    const servers = new Servers();
    const hubs = [0, 1, 2].map((index) => new SimulatedHub(time, servers, index, () => 5));
    for (const [index, { lease }] of hubs.entries()) time.schedule(() => lease.start(), 100 * index);
    const held: string[] = [];
    for (let ms = 0; ms < 20_000; ms += 20)
      time.schedule(() => {
        const holders = hubs.filter(({ lease }) => lease.isHeld()).map(({ lease }) => lease.ownName);
        t.true(holders.length <= 1, `${holders} hold the lease at ${time.now()}, away for ${awayMs}`);
        if (holders.length > 0 && holders[0] !== held.at(-1)) held.push(holders[0]!);
      }, ms);
    time.schedule(() => {
      Object.assign(servers, { sequence: 0, value: undefined, areThere: awayMs === 0 });
      time.schedule(() => Object.assign(servers, { areThere: true }), awayMs);
    }, 5000);
    await time.run(20_000);
    if (awayMs === 0) t.deepEqual(held, ['hub 0']);
    t.is(hubs.filter(({ lease }) => lease.isHeld()).length, 1);
    for (const { lease } of hubs) lease.stop();
    await time.run(22_000);
  }
});

function set(hub: SimulatedHub, servers: Servers, kind: Fault['kind'], isOn: boolean): void {
  if (kind === 'stop' && !isOn) hub.goOn();
  else if (kind === 'stop') hub.isStopped = true;
  else if (kind === 'cut') hub.isCut = isOn;
  else if (kind === 'mute') hub.isMute = isOn;
  else servers.areThere = !isOn;
}

test('of hubs that ask a real server at once one gets it, and the next one as soon as it is released', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const connections = await Promise.all([0, 1].map(() => connect({ servers: [...nats.urls] })));
  t.teardown(() => Promise.all(connections.map((connection) => connection.close())));
  const cells = connections.map((connection) =>
    createStreamCell({ connection: () => connection, stream: 'lease', subject: 'some.lease', parse: parseLease }),
  );
  for (let race = 0; race < 30; race++) {
    const { sequence } = await cells[0]!.read();
    const value = { term: race + 1, holder: 'x', name: 'x', isReleased: true };
    const told = await Promise.all(cells.map((cell) => cell.replace(value, sequence)));
    t.is(told.filter((one) => one !== undefined).length, 1);
  }
  const [one, other] = cells.map((cell, index) => new Lease(cell, { id: `${index}`, name: '' }, monotonicScheduler));
  const holds = (lease: Lease) => first(lease.state$.pipe(filter(({ is }) => is === 'held')));
  one!.start();
  const { term } = (await holds(one!)) as { term: number };
  t.is(term, 31);
  other!.start();
  await first(other!.state$.pipe(filter(({ is }) => is === 'taken')));
  await one!.release();
  t.false(one!.isHeld());
  t.like(await holds(other!), { term: 32 });
  other!.stop();
});

test('the holder of a lease whose stream is gone has it again, in a new stream', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const connection = await connect({ servers: [...nats.urls] });
  t.teardown(() => connection.close());
  const place = { connection: () => connection, stream: 'lease', subject: 'some.lease', parse: parseLease };
  const [one, other] = ['one', 'other'].map(
    (id) => new Lease(createStreamCell(place), { id, name: id }, monotonicScheduler),
  );
  one!.start();
  await first(one!.state$.pipe(filter(({ is }) => is === 'held')));
  other!.start();
  await first(other!.state$.pipe(filter(({ is }) => is === 'taken')));
  const states: string[] = [];
  one!.state$.subscribe(({ is }) => states.push(is));
  other!.state$.subscribe(({ is }) => states.push(is));
  await connection.request('$JS.API.STREAM.DELETE.lease');
  await eventually(() => other!.state.is === 'taken' && other!.state.term === 2, 'the next term of the same holder');
  t.like(one!.state, { is: 'held', term: 2 });
  t.deepEqual(states, ['held', 'taken', 'held', 'taken']);
  one!.stop();
  other!.stop();
});

test('a cell has its stream created where there is none, and asks for that at no other time', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const dial = async () => {
    const connection = await connect({ servers: [...nats.urls] });
    t.teardown(() => connection.close());
    return connection;
  };
  const [witness, one, other] = await Promise.all([dial(), dial(), dial()]);
  let asked = 0;
  witness.subscribe('$JS.API.STREAM.CREATE.>', { callback: () => void asked++ });
  await witness.flush();
  let connection = one;
  const place = { stream: 'lease', subject: 'some.lease' };
  const cell = createStreamCell({ connection: () => connection, ...place, parse: parseLease });
  const value = { term: 1, holder: 'x', name: 'x', isReleased: true };
  t.deepEqual(await cell.read(), { sequence: 0, value: undefined });
  t.is(await cell.replace(value, 0), 1);
  connection = other;
  t.is(await cell.replace(value, 1), 2, 'in another session');
  t.deepEqual(await cell.read(), { sequence: 2, value });
  await witness.flush();
  t.is(asked, 1);

  await witness.request('$JS.API.STREAM.DELETE.lease');
  await t.throwsAsync(cell.replace(value, 2));
  await eventually(async () => (await cell.replace(value, 0).catch(() => undefined)) === 1, 'a new stream');
});

test('a server survives that many ask at once for what nobody has had created yet', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const connections = await Promise.all(Array.from({ length: 6 }, () => connect({ servers: [...nats.urls] })));
  t.teardown(() => Promise.allSettled(connections.map((connection) => connection.close())));
  for (let race = 0; race < 40; race++) {
    const place = { stream: `race-${race}`, subject: `race.${race}` };
    const cells = connections.map((connection) =>
      createStreamCell({ connection: () => connection, ...place, parse: parseLease }),
    );
    const held = await Promise.all(cells.map((cell) => cell.read()));
    t.true(held.every(({ sequence }) => sequence === 0));
    const value = { term: 1, holder: 'x', name: 'x', isReleased: true };
    const told = await Promise.all(cells.map((cell) => cell.replace(value, 0)));
    t.is(told.filter((one) => one !== undefined).length, 1);
  }
});
