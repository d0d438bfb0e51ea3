import test from 'ava';
import { holds } from '../short.ts';
import { mistakesOf } from './soak.ts';

holds(
  'dashboards that stall, a loop, a rule that fails and reloads: the newest values are everywhere in the end',
  'soak',
  /^All of it holds\.$/m,
);

test('growth by more than a twentieth is reported, and so are open files', (t) => {
  const mark = { minutes: 10, residentBytes: 100 * 2 ** 20, heapBytes: 50 * 2 ** 20, descriptors: 1000 };
  t.deepEqual(mistakesOf(mark, { ...mark, residentBytes: 104 * 2 ** 20, descriptors: 1008 }), []);
  t.deepEqual(mistakesOf(mark, { ...mark, heapBytes: 53 * 2 ** 20, descriptors: 1009 }), [
    'heap: expected at most 1.05 times 50.0 MiB, got 53.0',
    'descriptors: expected 1000, give or take 8, got 1009',
  ]);
});
