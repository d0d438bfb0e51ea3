// Cells of leases in a real server.

import { setTimeout as after } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import test from 'ava';
import { filter } from 'rxjs/operators';
import { Lease } from '../../../../lib/connections/nats/lease/lease.ts';
import { type LeaseRecord, parseLease } from '../../../../lib/connections/nats/lease/lease-record.ts';
import type { Register } from '../../../../lib/connections/nats/lease/register.ts';
import { Creations, StreamRegister } from '../../../../lib/connections/nats/lease/stream-register.ts';
import { monotonicScheduler } from '../../../../lib/hub/scheduler.ts';
import { eventually, first } from '../../../support/deadline.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';

needs('nats');

/** What a server answers that may be too busy to do so within the second that it has; a write may be done without an answer. */
async function answered<T>(ask: () => Promise<T>, onSilence: () => void = () => {}): Promise<T> {
  let reported!: T;
  await eventually(async () => {
    try {
      reported = await ask();
      return true;
    } catch {
      onSilence();
      return false;
    }
  }, 'an answer of the server');
  return reported;
}

/** Whether one of those that replace a value at once is told that it has; nobody, if an answer was missing. */
async function oneWins(
  registers: readonly Register<LeaseRecord>[],
  value: LeaseRecord,
  sequence: number,
): Promise<boolean> {
  let missing = 0;
  const replace = (register: Register<LeaseRecord>) =>
    answered(
      () => register.replace(value, sequence),
      () => missing++,
    );
  const reported = await Promise.all(registers.map(replace));
  const winners = reported.filter((one) => one !== undefined).length;
  return winners === 1 || (winners === 0 && missing > 0);
}

test('of simultaneous requests to a real server one hub gets the lease, and the next one after its release', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const connections = await Promise.all([0, 1].map(() => connect({ servers: [...nats.urls] })));
  t.teardown(() => Promise.all(connections.map((connection) => connection.close())));
  const registers = connections.map(
    (connection) =>
      new StreamRegister({
        connection: () => connection,
        creations: new Creations(),
        stream: 'lease',
        subject: 'some.lease',
        parse: parseLease,
        warnOfInvalid: () => {},
      }),
  );
  for (let race = 0; race < 30; race++) {
    const { sequence } = await answered(() => registers[0]!.read());
    const value = { term: race + 1, holder: 'x', name: 'x', isReleased: true };
    t.true(await oneWins(registers, value, sequence));
    t.like(await answered(() => registers[0]!.read()), { sequence: sequence + 1, value });
  }
  const [one, other] = registers.map(
    (register, index) => new Lease(register, { id: `${index}`, name: '' }, monotonicScheduler),
  );
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

test('the holder of a lease whose stream is gone gets it again, in a new stream', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const connection = await connect({ servers: [...nats.urls] });
  t.teardown(() => connection.close());
  const place = {
    connection: () => connection,
    stream: 'lease',
    subject: 'some.lease',
    parse: parseLease,
    warnOfInvalid: () => {},
    creations: new Creations(),
  };
  const [one, other] = ['one', 'other'].map(
    (id) => new Lease(new StreamRegister(place), { id, name: id }, monotonicScheduler),
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

test('a cell creates a missing stream, and only then', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const dial = async () => {
    const connection = await connect({ servers: [...nats.urls] });
    t.teardown(() => connection.close());
    return connection;
  };
  const [auditSink, one, other] = await Promise.all([dial(), dial(), dial()]);
  let asked = 0;
  auditSink.subscribe('$JS.API.STREAM.CREATE.>', { callback: () => void asked++ });
  await auditSink.flush();
  let connection = one;
  const place = { stream: 'lease', subject: 'some.lease' };
  const register = new StreamRegister({
    connection: () => connection,
    creations: new Creations(),
    ...place,
    parse: parseLease,
    warnOfInvalid: () => {},
  });
  const value = { term: 1, holder: 'x', name: 'x', isReleased: true };
  t.deepEqual(await register.read(), { sequence: 0, value: undefined });
  t.is(await register.replace(value, 0), 1);
  connection = other;
  t.is(await register.replace(value, 1), 2, 'in another session');
  t.deepEqual(await register.read(), { sequence: 2, value });
  await auditSink.flush();
  t.is(asked, 1);

  await auditSink.request('$JS.API.STREAM.DELETE.lease');
  await t.throwsAsync(register.replace(value, 2));
  await eventually(async () => (await register.replace(value, 0).catch(() => undefined)) === 1, 'a new stream');
});

test('a hub creates its streams one after another, regardless of the results', async (t) => {
  const creations = new Creations();
  const reported: string[] = [];
  const create = (name: string) => async () => {
    reported.push(`${name} begins`);
    await after(1);
    reported.push(`${name} ends`);
    if (name === 'a') throw new Error('no');
    return name;
  };
  const all = await Promise.allSettled(['a', 'b', 'c'].map((name) => creations.inTurn(create(name))));
  t.deepEqual(
    all.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message)),
    ['no', 'b', 'c'],
  );
  t.deepEqual(reported, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('a server survives many simultaneous requests for a missing stream', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const connections = await Promise.all(Array.from({ length: 6 }, () => connect({ servers: [...nats.urls] })));
  t.teardown(() => Promise.allSettled(connections.map((connection) => connection.close())));
  for (let race = 0; race < 40; race++) {
    const place = { stream: `race-${race}`, subject: `race.${race}` };
    const registers = connections.map(
      (connection) =>
        new StreamRegister({
          connection: () => connection,
          creations: new Creations(),
          ...place,
          parse: parseLease,
          warnOfInvalid: () => {},
        }),
    );
    const held = await Promise.all(registers.map((register) => answered(() => register.read())));
    t.true(held.every(({ sequence }) => sequence === 0));
    const value = { term: 1, holder: 'x', name: 'x', isReleased: true };
    t.true(await oneWins(registers, value, 0));
    t.like(await answered(() => registers[0]!.read()), { sequence: 1, value });
  }
});
