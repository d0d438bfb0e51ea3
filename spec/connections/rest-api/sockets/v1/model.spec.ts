// patchbay.v1 against a model: clients that subscribe, unsubscribe, are cut and resume at random while values change at random
// know, whenever it is quiet, what the hub knows, and were told every change of what they wanted all of.

import { setTimeout as after } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { within } from '../../../../support/deadline.ts';
import { api, expectQuietLog, type HubUnderTest, startTestHub, writer } from '../../../../support/hub.ts';
import { History, ModelClient, type Wish } from '../../../../support/sockets/v1-model.ts';

const numRuns = Number(process.env.RUNS ?? 15);

const numbered = (count: number, suffix: string) => Array.from({ length: count }, (_, index) => `p${index}${suffix}`);
const startDesk = (t: ExecutionContext) =>
  startTestHub(t, {
    connections: {
      api,
      desk: { type: 'dummy', parameters: [...numbered(20, ',I'), 'go,T', 'stop,T'] },
      other: { type: 'dummy', parameters: [...numbered(10, ',I'), 'go,T'] },
    },
  });

type Step =
  | { readonly kind: 'sub'; readonly client: number; readonly id: number; readonly wish: Wish }
  | { readonly kind: 'unsub' | 'cut'; readonly client: number; readonly id: number }
  | { readonly kind: 'write'; readonly places: readonly number[] }
  | { readonly kind: 'round' | 'sync' | 'quiet'; readonly client: number };

const clientCount = 4;
const client = fc.nat({ max: clientCount - 1 });
const id = fc.nat({ max: 2 });
const patterns = fc.constantFrom(
  ['**'],
  ['desk/**'],
  ['other/*'],
  ['desk/p1', 'desk/p2', 'other/p3', 'desk/go'],
  ['*/p1*', { regex: 'go$' }],
  ['desk/p*'],
);
const wish: fc.Arbitrary<Wish> = fc.record({
  include: patterns,
  exclude: fc.constantFrom([], ['desk/p3'], ['*/p1*'], ['other/**']),
  rate: fc.constantFrom(0, 0, 50, 300),
  delivery: fc.constantFrom('latest' as const, 'all' as const),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('sub' as const), client, id, wish }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('unsub' as const, 'cut' as const), client, id }) },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      places: fc.array(fc.nat({ max: 32 }), { minLength: 1, maxLength: 60 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('round' as const, 'sync' as const), client }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('quiet' as const), client }) },
);

/** Waits until every client knows what the hub knows. */
async function expectQuiet(clients: readonly ModelClient[]): Promise<void> {
  let wrong: string[] = [];
  const waiting = (async () => {
    do {
      for (const one of clients) await one.sync();
      wrong = clients.flatMap((one) => one.differences());
      if (wrong.length > 0) await after(5); // what waits for its rate
    } while (wrong.length > 0);
  })();
  await within(waiting, 'quiet').catch((error) => {
    throw new Error(`${error.message}: ${wrong.slice(0, 5).join('; ')}`);
  });
}

async function run(
  t: ExecutionContext,
  hub: HubUnderTest,
  steps: readonly Step[],
  keepsIds: readonly boolean[],
  history: History,
): Promise<void> {
  const clients = keepsIds.map((keeps) => new ModelClient(t, hub, history, keeps));
  const addresses = [...hub.parameters()].map(({ address }) => address);
  const fires = new Map<string, number>();
  const write = (place: number) => {
    const parameter = hub.find(addresses[place % addresses.length]!)!;
    if (parameter.type === 'T') fires.set(parameter.address, (fires.get(parameter.address) ?? 0) + 1);
    hub.write(parameter.address, parameter.type === 'T' ? 1 : ((parameter.value as number) ?? 0) + 1, writer);
  };
  let counted = { fires: new Map(fires), clients: clients.map((one) => one.count()) };
  const expectFires = () => {
    clients.forEach((one, index) => {
      const before = counted.clients[index]!;
      const now = one.count();
      if (now.changes !== before.changes) return;
      for (const [address, count] of fires) {
        const reported = (now.fires.get(address) ?? 0) - (before.fires.get(address) ?? 0);
        const made = one.covers(address) ? count - (counted.fires.get(address) ?? 0) : 0;
        if (reported !== made) throw new Error(`${address}: fired ${made} times, told ${reported} times`);
      }
    });
    counted = { fires: new Map(fires), clients: clients.map((one) => one.count()) };
  };
  try {
    for (const one of [...steps, { kind: 'quiet', client: 0 } as const]) {
      if (one.kind === 'sub') await clients[one.client]!.subscribe(one.id, one.wish);
      else if (one.kind === 'unsub') await clients[one.client]!.unsubscribe(one.id);
      else if (one.kind === 'cut') clients[one.client]!.cut();
      else if (one.kind === 'write') one.places.forEach(write);
      else if (one.kind === 'round') await new Promise((resolve) => setImmediate(resolve));
      else if (one.kind === 'sync') await clients[one.client]!.sync();
      else {
        await expectQuiet(clients);
        expectFires();
        for (let round = 0; round < 40; round++) write(round * 7);
        await expectQuiet(clients);
        expectFires();
      }
    }
    for (const one of clients) {
      const faults = [...one.faults, ...one.picture.faults];
      if (faults.length > 0) throw new Error(faults.slice(0, 5).join('; '));
    }
  } finally {
    for (const one of clients) one.cut();
  }
}

test('docs/protocol.md: clients know the state of the hub, after any actions', async (t) => {
  const hub = await startDesk(t);
  const history = new History(hub);
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }),
      fc.array(fc.boolean(), { minLength: clientCount, maxLength: clientCount }),
      (steps, keepsIds) => run(t, hub, steps, keepsIds, history),
    ),
    { numRuns, includeErrorInReport: true },
  );
  expectQuietLog(t, hub);
  t.pass();
});
