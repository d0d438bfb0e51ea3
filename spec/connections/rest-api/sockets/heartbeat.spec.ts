// Every client is pinged once a round, a few of them at each beat.

import { setTimeout as after } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { ConnectedClient } from '../../../../lib/connections/rest-api/sockets/socket-protocol.ts';
import { Heartbeat } from '../../../../lib/connections/rest-api/sockets/sockets.ts';
import { eventually } from '../../../support/deadline.ts';

const beatMs = 2;

/** Clients that count their pings. */
class Clients {
  readonly pings = new Map<ConnectedClient, number>();

  get size(): number {
    return this.pings.size;
  }

  clients(): Iterable<ConnectedClient> {
    return this.pings.keys();
  }

  add(count: number): void {
    for (let index = 0; index < count; index++) {
      const client = { session: { ping: () => this.#count(client) } } as ConnectedClient;
      this.pings.set(client, 0);
    }
  }

  #count(client: ConnectedClient): void {
    this.pings.set(client, this.pings.get(client)! + 1);
  }
}

function startBeating(t: ExecutionContext, count: number): [Clients, Heartbeat] {
  const clients = new Clients();
  const heartbeat = new Heartbeat(clients, beatMs);
  t.teardown(() => heartbeat.stop());
  clients.add(count);
  heartbeat.start();
  return [clients, heartbeat];
}

for (const count of [1, 29, 30, 95, 10_000])
  test(`each of ${count} is pinged once a round, and no beat pings more than its share`, async (t) => {
    const [clients] = startBeating(t, count);
    let before = 0;
    let most = 0;
    let fewest = 0;
    while (fewest < 4) {
      const counts = [...clients.pings.values()];
      fewest = Math.min(...counts);
      t.true(Math.max(...counts) - fewest <= 1);
      const sum = counts.reduce((all, one) => all + one);
      most = Math.max(most, sum - before);
      before = sum;
      await new Promise(setImmediate); // sooner than the next beat
    }
    t.is(most, Math.ceil(count / 30));
  });

test('a client that joins during a round of pings is pinged as well, a client that left is not', async (t) => {
  const [clients] = startBeating(t, 40);
  await eventually(() => Math.max(...clients.pings.values()) > 0);
  const [gone] = [...clients.pings].at(-1)!;
  clients.pings.delete(gone);
  clients.add(2000);
  await eventually(() => Math.min(...clients.pings.values()) > 1);
  t.false(clients.pings.has(gone));
});

test('it rests without clients, and starts again with the next one', async (t) => {
  const [clients, heartbeat] = startBeating(t, 3);
  await eventually(() => Math.min(...clients.pings.values()) > 0);
  clients.pings.clear();
  await after(20 * beatMs);
  clients.add(3);
  await after(80 * beatMs);
  t.deepEqual([...clients.pings.values()], [0, 0, 0]);
  heartbeat.start();
  await eventually(() => Math.min(...clients.pings.values()) > 0);
  heartbeat.stop();
  const counts = [...clients.pings.values()];
  await after(80 * beatMs);
  t.deepEqual([...clients.pings.values()], counts);
});
