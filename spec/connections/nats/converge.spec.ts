// Two hubs over a network that loses, doubles and reorders messages: whatever happens, in the end each has what the other has,
// and on the way there no value is older than one before it.

import test from 'ava';
import fc from 'fast-check';
import { VirtualAction, VirtualTimeScheduler } from 'rxjs';
import type { Value } from '../../../lib/model/value.ts';
import { JoinedHub } from './support/joined-hub.ts';
import { LossyNetwork } from './support/lossy-network.ts';

const sliceMs = 20;
const healedMs = 6000;

type Step =
  | { readonly do: 'set' | 'turn' | 'fire' | 'ask' | 'come' | 'go'; readonly hub: 0 | 1; readonly which: number }
  | { readonly do: 'restart'; readonly hub: 0 | 1 }
  | { readonly do: 'rejoin'; readonly hub: 0 | 1 }
  | { readonly do: 'wait'; readonly ms: number };

const hub = fc.constantFrom<0 | 1>(0, 1);
const which = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('set' as const, 'turn' as const), hub, which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('fire' as const, 'ask' as const), hub, which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('come' as const, 'go' as const), hub, which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), hub }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rejoin' as const), hub }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(1500) }) },
);
const faults = fc.record({ lost: fc.nat(60), doubled: fc.nat(30), delayMs: fc.nat(400) });
const names = ['west', 'east'] as const;

class World {
  readonly scheduler = new VirtualTimeScheduler(VirtualAction, 0);
  readonly network: LossyNetwork;
  readonly hubs: [JoinedHub, JoinedHub];
  /** Counts what is set, so that a later value is a greater one. */
  #count = 0;
  /** Of requests: how many were sent and how many were confirmed. */
  asked = 0;
  confirmed = 0;
  /** How often each hub was seen to be written to by the other one. */
  written = 0;
  readonly regressions: string[] = [];

  constructor(random: () => number) {
    this.network = new LossyNetwork(this.scheduler, random);
    this.hubs = [this.#start(0), this.#start(1)];
  }

  async run(forMs: number): Promise<void> {
    const { scheduler } = this;
    for (const end = scheduler.maxFrames + forMs; scheduler.maxFrames < end; ) {
      scheduler.maxFrames += sliceMs;
      scheduler.flush();
      scheduler.frame = scheduler.maxFrames;
      await new Promise(setImmediate); // what promises go on with
    }
  }

  async do(step: Step): Promise<void> {
    if (step.do === 'wait') return this.run(step.ms);
    const one = this.hubs[step.hub];
    if (step.do === 'restart') {
      one.stop();
      this.hubs[step.hub] = this.#start(step.hub);
      return;
    }
    if (step.do === 'rejoin') return one.rejoin();
    const { name, graph, owner } = one;
    const id = `p${step.which}`;
    if (step.do === 'come') {
      const isKnown = step.which % 2 === 0;
      const declaration = { id: `${id}/more`, type: 'I', access: 'read-write' } as const;
      one.declare(isKnown ? { ...declaration, defaultValue: this.#count++ } : declaration);
    }
    if (step.do === 'go') one.withdraw(`${id}/more`);
    if (step.do === 'set') graph.write(`${name}/${id}`, this.#count++, owner);
    if (step.do === 'fire') graph.write(`${name}/go`, true, owner);
    if (step.do === 'turn')
      graph.turn(() => {
        for (let other = 0; other <= step.which; other++) graph.write(`${name}/p${other}`, this.#count++, owner);
      });
    if (step.do === 'ask') this.#ask(one);
  }

  #start(index: 0 | 1): JoinedHub {
    const name = names[index];
    const started = new JoinedHub(name, this.scheduler, this.network.transportOf(name));
    started.declare({ id: 'go', type: 'T', access: 'read-write' }, { id: 'asked', type: 'T', access: 'read-write' });
    for (let number = 0; number <= 5; number++) {
      const declaration = { id: `p${number}`, type: 'I', access: 'read-write' } as const;
      const count = this.#count++;
      started.declare(count % 4 === 0 ? declaration : { ...declaration, defaultValue: count }); // some are not known at first
    }
    const newest = new Map<string, Value>();
    started.graph.changes$.subscribe({
      next: ({ parameter: { address, type, remote }, value, origin }) => {
        if (address.endsWith('/asked') && remote === undefined && origin.hub !== undefined) this.written++;
        if (type !== 'I') return;
        if (value < (newest.get(address) ?? 0))
          this.regressions.push(`${name}: ${address} from ${newest.get(address)} to ${value}`);
        newest.set(address, value);
      },
    });
    return started;
  }

  #ask({ graph, hub: port, name }: JoinedHub): void {
    const parameter = graph.find(`${names[name === 'west' ? 1 : 0]}/asked`);
    if (parameter?.remote === undefined) return;
    this.asked++;
    void port
      .writeRemote(parameter.remote, [{ parameter, input: true }], { kind: 'client', name: 'spec' })
      .then(([result]) => {
        if (!(result instanceof Error)) this.confirmed++;
      });
  }
}

test('mirrors converge, for any behaviour of the network and the hubs', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })),
      faults,
      fc.array(step, { maxLength: 60 }),
      async (random, trouble, steps) => {
        const world = new World(() => random.next().value);
        await world.run(200);
        world.network.faults = trouble;
        for (const one of steps) await world.do(one);
        await world.run(sliceMs);
        world.network.faults = { lost: 0, doubled: 0, delayMs: 5 };
        await world.run(healedMs);
        const [west, east] = world.hubs;
        t.deepEqual(east.valuesOf('west'), west.valuesOf('west'));
        t.deepEqual(west.valuesOf('east'), east.valuesOf('east'));
        t.deepEqual(world.regressions, []);
        t.true(world.written <= world.asked, 'no request is written twice');
        t.true(world.confirmed <= world.written, 'what is confirmed was written');
        for (const { mirrors } of world.hubs)
          for (const mirrored of mirrors.hubs()) t.is(mirrored.staleSince, undefined);
        west.stop();
        east.stop();
      },
    ),
    { numRuns: Number(process.env.RUNS ?? 40) },
  );
});
