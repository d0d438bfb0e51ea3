// Claims of several hubs, in a simulated time: who has all that it wants asks rarely, who does not asks each second, and what
// happens while a hub looks is not missed.

import test from 'ava';
import type { Cell } from '../../../../lib/connections/nats/lease/cell.ts';
import { type ClaimList, Claims } from '../../../../lib/connections/nats/lease/claims.ts';
import type { LeaseRecord } from '../../../../lib/connections/nats/lease/record.ts';
import { Time } from '../support/time.ts';

/** One list for all hubs; it counts how often a hub has read it. */
function domain(time: Time) {
  let list: ClaimList = {};
  let sequence = 0;
  const lease: Cell<LeaseRecord> = {
    read: async () => ({ sequence: time.now(), value: { term: 1, holder: '', name: '', isReleased: false } }), // it is renewed
    replace: async () => undefined,
  };
  return (hub: string, wanted: () => Iterable<string>, mayClaim = () => true) => {
    const counts = { reads: 0, writes: 0 };
    const cell: Cell<ClaimList> = {
      async read() {
        counts.reads++;
        return { sequence, value: list };
      },
      async replace(value, known) {
        counts.writes++;
        if (known !== sequence) return undefined;
        list = value;
        return ++sequence;
      },
    };
    const claims = new Claims({ hub, cell, leaseOf: () => lease, clock: time, wanted, mayClaim });
    return { claims, counts };
  };
}

test('who has all that it wants asks rarely; who does not asks each second, and gets what is given up', async (t) => {
  const time = new Time();
  const join = domain(time);
  let wanted = ['desk'];
  const west = join('west', () => wanted);
  const east = join('east', () => ['desk', 'rack']);
  west.claims.start();
  await time.run(100);
  east.claims.start();
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

test('what a hub comes to want while it looks is claimed without a pause', async (t) => {
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
  claims.start();
  await time.run(100);
  t.deepEqual([...claims.owners.keys()], ['desk', 'rack']);
});

test('of a pair only the holder claims, though the two want other things: the one that stands by reads', async (t) => {
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
  for (const { claims } of [main, standby]) claims.start();
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
