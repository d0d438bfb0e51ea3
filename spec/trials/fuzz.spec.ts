// The fuzzer, short: no input makes an internal error. `npm run trial -- fuzz` is its full size.

import { resolve } from 'node:path';
import test from 'ava';
import { deadlineMs } from '../support/deadline.ts';
import { Random } from '../support/random.ts';
import { start } from '../support/system/process.ts';
import { anHttpInput } from './fuzz/http-input.ts';
import { shrink } from './fuzz/shrink.ts';
import { aSocketInput } from './fuzz/socket-input.ts';

const limitMs = 5 * deadlineMs;

test('3,000 inputs over HTTP and both sockets: no answer 500, no entry of the log that says so, no end', async (t) => {
  t.timeout(limitMs);
  const program = resolve(import.meta.dirname, 'fuzz.ts');
  const fuzzer = start(t, ['--seed', '12', '--inputs', '3000'], { program, env: { DISPLAY: '' } });
  const { status, output, errors } = await fuzzer.ended(limitMs);
  t.is(status, 0, output + errors);
  t.regex(output, /^seed 12: [34]\d{3} inputs, nothing was wrong$/m);
});

test('an input is made of its seed and number alone', (t) => {
  const make = (seed: number) =>
    Array.from({ length: 40 }, (_, number) => [
      anHttpInput(new Random(seed, number)),
      aSocketInput(new Random(seed, number)),
    ]);
  t.deepEqual(make(1), make(1));
  t.notDeepEqual(make(1), make(2));
});

test('an input that fails is made smaller as long as it fails', async (t) => {
  const pieces = ['GET /a/long/path HTTP/1.1', 'Host: x', 'Accept: */*', 'body with a needle in it'];
  const input = { kind: 'http', server: 'open', pieces, isOrderly: true } as const;
  const smallest = await shrink(input, async (one) => one.pieces.join().includes('needle'));
  t.deepEqual(smallest.pieces, ['needle']);
});
