// A process of a benchmark is asked: it answers, or what asks hears that it has ended.

import { once } from 'node:events';
import test from 'ava';
import { startTask } from './task-process.ts';

test('a process that ends without an answer is not awaited, before its end and afterwards', async (t) => {
  const { process: child, answer } = startTask('spec/support/system/tell-memory.ts', {});
  const expected = { message: 'expected an answer of spec/support/system/tell-memory.ts, its process ended with 0' };
  await t.throwsAsync(answer(), expected);
  await t.throwsAsync(answer(), expected);
  t.is(child.exitCode, 0);
});

test('a failure of a process is reported in its own words', async (t) => {
  const { process: child, answer } = startTask('spec/trials/abuse/attacker.ts', { scenario: 'unknown', port: 0 });
  await t.throwsAsync(answer(), { message: /attack/ });
  child.disconnect();
  await once(child, 'exit');
});

test('a process without an answer in time is ended', async (t) => {
  const { answer } = startTask('spec/support/load/neighbours.ts', {
    port: 0,
    addresses: [],
    beforeMs: 60_000,
    duringMs: 1,
  });
  const expected = { message: 'expected an answer of spec/support/load/neighbours.ts, its process ended with SIGKILL' };
  await t.throwsAsync(answer(100), expected);
});
