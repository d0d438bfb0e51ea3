import test from 'ava';

import { Random } from '../../support/random.ts';
import { holds } from '../short.ts';
import { shrink } from './fuzz.ts';
import { anHttpInput } from './http-input.ts';
import { aSocketInput } from './socket-input.ts';

holds(
  '3,000 inputs over HTTP and both sockets: no answer 500, no entry of the log that says so, no end',
  'fuzz',
  /^seed 12: [34]\d{3} inputs, nothing was wrong$/m,
);

test('an input depends only on its seed and number', (t) => {
  const make = (seed: number) =>
    Array.from({ length: 40 }, (_, number) => [
      anHttpInput(new Random(seed, number)),
      aSocketInput(new Random(seed, number)),
    ]);
  t.deepEqual(make(1), make(1));
  t.notDeepEqual(make(1), make(2));
});

test('a failing input is reduced as long as it fails', async (t) => {
  const pieces = ['GET /a/long/path HTTP/1.1', 'Host: x', 'Accept: */*', 'body with a needle in it'];
  const input = { kind: 'http', server: 'open', pieces, isOrderly: true } as const;
  const smallest = await shrink(input, async (one) => one.pieces.join().includes('needle'));
  t.deepEqual(smallest.pieces, ['needle']);
});
