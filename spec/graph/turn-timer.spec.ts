// A few of many turns are timed, so that timing costs nothing.

import test from 'ava';
import { Graph } from '../../lib/graph/graph.ts';

test('one of 64 turns is timed, and at most one per millisecond', (t) => {
  let now = 1;
  const graph = new Graph(() => now);
  const timed = () => graph.turnDurations.counts.reduce((sum, count) => sum + count, 0);
  const turn = (count: number) => {
    for (let index = 0; index < count; index++) graph.turn(() => {});
  };
  turn(63);
  t.is(timed(), 0);
  turn(1);
  t.is(timed(), 1);
  turn(640);
  t.is(timed(), 1);
  now++;
  turn(63);
  t.is(timed(), 1);
  turn(1);
  t.is(timed(), 2);
});
