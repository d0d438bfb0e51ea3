// Parameters of another hub come and go a few at a time, so that nothing else waits for thousands of them.

import test from 'ava';
import type { MadeSteps } from '../../../../lib/connections/nats/link/nats-intake.ts';
import { Bounds } from '../../../../lib/connections/nats/mirrors/mirror-bounds.ts';
import { MirroredParameters } from '../../../../lib/connections/nats/mirrors/mirrored-parameters.ts';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

/** The most that may come or go before something else has its turn. */
const most = 50;
const count = 4000;
const numbers = Array.from({ length: count }, (_, number) => number);
const declared = numbers.map((number) => [number, `west/p${number}`, 'S', 'read-write'] as const);
const values = (text: string) => [{ by: ['client', 'spec'], at: 1 }, ...numbers.flatMap((number) => [number, text])];

function start() {
  const time = new Time();
  const east = new JoinedHub('east', time, new LossyNetwork(time, () => 0.5).transportOf('east'));
  const { graph, hub } = east;
  const bounds = new Bounds(100_000);
  const always = () => true;
  const parameters = new MirroredParameters({
    hub,
    owner: 'west',
    remote: { hub: 'west', staleSince: undefined, write: async () => [] },
    isSelected: always,
    mayShow: always,
    isOwn: false,
    bounds,
    timeOfDay: () => time.now(),
    refuse: () => {},
  });
  /** Goes through steps, so many of them at most; how many parameters came or went in one of them at most. */
  const goThrough = (steps: MadeSteps, limit = Number.POSITIVE_INFINITY) => {
    let greatest = 0;
    for (let step = 0; step < limit; step++) {
      const before = graph.size;
      const { done } = steps.next();
      greatest = Math.max(greatest, Math.abs(graph.size - before));
      if (done) break;
    }
    return greatest;
  };
  return { east, graph, bounds, parameters, goThrough };
}

test('new parameters with values, and removed ones, are processed a few at a time', (t) => {
  const { east, graph, bounds, parameters, goThrough } = start();
  t.true(goThrough(parameters.take([{ declared, changes: values('one') }], () => {})) <= most);
  t.is(graph.size, count);
  t.is(graph.find('west/p3999')!.value, 'one');
  t.true(goThrough(parameters.take([{ withdrawn: numbers }], () => {})) <= most);
  t.is(graph.size, 0);
  t.is(bounds.parameters.of('west') + bounds.characters.of('west'), 0);
  east.stop();
});

test('after an incomplete walk, nothing is left behind by a new declaration, or a withdrawal', (t) => {
  const { east, graph, bounds, parameters, goThrough } = start();
  goThrough(
    parameters.take([{ declared, changes: values('one') }], () => {}),
    30,
  );
  const some = graph.size;
  t.true(some > 0 && some < count, `${some}`);
  const tellAnew = () => {
    parameters.beginSnapshot();
    goThrough(parameters.define(declared));
    t.true(goThrough(parameters.swap()) <= most);
    goThrough(parameters.takeAll(values('two')));
    t.is(graph.size, count);
    t.is(parameters.size, count);
  };
  tellAnew();
  goThrough(
    parameters.take([{ withdrawn: numbers }], () => {}),
    30,
  );
  t.true(graph.size > 0 && graph.size < count, `${graph.size}`);
  tellAnew();
  goThrough(
    parameters.take([{ withdrawn: numbers }], () => {}),
    30,
  );
  parameters.clear();
  t.is(graph.size, 0);
  t.is(bounds.parameters.of('west') + bounds.characters.of('west') + bounds.causes.of('west'), 0);
  east.stop();
});
