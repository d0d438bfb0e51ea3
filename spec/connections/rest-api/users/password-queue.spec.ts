// Whose password is compared next.

import test from 'ava';
import fc from 'fast-check';
import { limits } from '../../../../lib/connections/rest-api/limits/client-limits.ts';
import type { LimitError } from '../../../../lib/connections/rest-api/limits/limit-hits.ts';
import { PasswordQueue } from '../../../../lib/connections/rest-api/users/passwords.ts';
import { eventually } from '../../../support/deadline.ts';

const most = limits.passwords.default;

/** A queue that notes the order in which passwords of networks are compared, which nobody begins before `begin`. */
function createQueue() {
  const queue = new PasswordQueue({ longestWaitMs: 30_000, refusalMs: 10 });
  const order: string[] = [];
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const add = (network: string, suspicion = 1, name = network, isGone = () => false) =>
    queue.add({ network, suspicion: () => suspicion, isSlowed: () => false, isGone }, async () => {
      await begun;
      order.push(name);
      return true;
    });
  return { add, order, begin };
}

test('networks take turns, so a network with many attempts delays no other by more than one of its own', async (t) => {
  const { add, order, begin } = createQueue();
  const all = Array.from({ length: 6 }, () => add('a'));
  all.push(add('b'), add('c'), add('b'));
  begin();
  t.true((await Promise.all(all)).every(Boolean));
  t.is(order.join(''), 'abcabaaaa'); // the first one was being compared already
});

for (const [suspicion, expected] of [
  [1, '01234'],
  [2, '04321'], // 0 is being compared
] as const)
  test(`of one network of suspicion ${suspicion} they are compared in the order ${expected}`, async (t) => {
    const { add, order, begin } = createQueue();
    const all = [...'01234'].map((name) => add('a', suspicion, name));
    begin();
    await Promise.all(all);
    t.is(order.join(''), expected);
  });

test('of equally suspect networks the newest comes first', async (t) => {
  const { add, order, begin } = createQueue();
  const all = [...'abcd'].map((name) => add(name));
  begin();
  await Promise.all(all);
  t.is(order.join(''), 'adcb');
});

test('a client that sends attempts without a pause delays its network by no more than one comparison', async (t) => {
  const queue = new PasswordQueue();
  const asker = { network: 'a', suspicion: () => 3, isSlowed: () => false, isGone: () => false };
  let guesses = 0;
  let isIn = false;
  const guess = async () => {
    while (!isIn)
      await queue.add(asker, async () => {
        guesses++;
        await new Promise(setImmediate);
        return false;
      });
  };
  const guessers = Array.from({ length: 30 }, guess);
  while (guesses < 100) await new Promise(setImmediate);
  const before = guesses;
  await queue.add(asker, async () => true);
  t.true(guesses - before <= 1, `${guesses - before}`);
  isIn = true;
  await Promise.all(guessers);
});

test('a client without recent mistakes precedes one with mistakes, and does not wait for the current comparison', async (t) => {
  const { add, order, begin } = createQueue();
  const all = Array.from({ length: 100 }, (_, index) => add(`guesser ${index}`, 3));
  all.push(add('b', 2), add('c', 1), add('d', 0));
  begin();
  await Promise.all(all);
  t.deepEqual(order.slice(0, 4).toSorted(), ['b', 'c', 'd', 'guesser 0']);
  t.is(order.length, 103);
});

test('at most two waiting passwords are compared at the same time, and all of them in the end', async (t) => {
  const waiting = fc.array(fc.record({ network: fc.constantFrom(...'abc'), suspicion: fc.nat(4) }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(waiting, async (all) => {
      const queue = new PasswordQueue();
      let comparing = 0;
      let compared = 0;
      const results = all.map(({ network, suspicion }) =>
        queue.add({ network, suspicion: () => suspicion, isSlowed: () => false, isGone: () => false }, async () => {
          comparing++;
          if (comparing > 2) throw new Error(`${comparing} at once`);
          await Promise.resolve();
          comparing--;
          compared++;
          return true;
        }),
      );
      t.true((await Promise.all(results)).every(Boolean));
      t.is(compared, all.length);
    }),
  );
});

test('when too many wait, the most suspect network with the most attempts loses its oldest one', async (t) => {
  const { add, order, begin } = createQueue();
  const first = add('first');
  const others = Array.from({ length: most - 2 }, (_, index) => add(`${index}`, 2));
  const greedy = [add('a', 3, 'a0'), add('a', 3, 'a1')];
  const neighbour = add('b', 2);
  const error = await t.throwsAsync<LimitError>(greedy[0]!);
  t.is(error.limit, 'passwords');
  await t.throwsAsync<LimitError>(add('c', 4), { message: error.message }, 'who is more suspect than all others');
  begin();
  t.true((await Promise.all([first, ...others, greedy[1]!, neighbour])).every(Boolean));
  t.is(order.length, most + 1);
  t.true(await add('a'), 'then there is room again');
});

test('at the maximum number of networks, an equally trusted new one replaces the oldest', async (t) => {
  const { add, begin } = createQueue();
  const all = Array.from({ length: most + 1 }, (_, index) => add(`${index}`)); // 0 is being compared
  const newcomer = add('newcomer');
  await t.throwsAsync<LimitError>(all[1]!);
  begin();
  t.true(await newcomer);
});

test('each attempt of a network that guesses constantly is answered in time: those without a turn are refused', async (t) => {
  const queue = new PasswordQueue({ longestWaitMs: 200, refusalMs: 10 });
  const asker = { network: 'a', suspicion: () => 3, isSlowed: () => false, isGone: () => false };
  let isOver = false;
  let longestMs = 0;
  let refusals = 0;
  const guess = async () => {
    while (!isOver) {
      const beganMs = performance.now();
      await queue.add(asker, () => new Promise((resolve) => setTimeout(resolve, 5, false))).catch(() => refusals++);
      longestMs = Math.max(longestMs, performance.now() - beganMs);
    }
  };
  const guessers = Array.from({ length: 8 }, guess);
  await eventually(() => refusals >= 10);
  isOver = true;
  await Promise.all(guessers);
  t.true(longestMs < 2000, `${longestMs} ms`);
});

test('for a client that leaves before its turn, nothing is compared', async (t) => {
  const { add, order, begin } = createQueue();
  let hasGone = false;
  const first = add('a');
  const gone = add('gone', 1, 'gone', () => hasGone);
  const last = add('b');
  hasGone = true;
  begin();
  await t.throwsAsync<LimitError>(gone);
  await Promise.all([first, last]);
  t.deepEqual(order, ['a', 'b']);
});

test('an error in a comparison is reported, and the next one follows', async (t) => {
  const queue = new PasswordQueue();
  const asker = { network: 'a', suspicion: () => 1, isSlowed: () => false, isGone: () => false };
  await t.throwsAsync(
    queue.add(asker, () => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  );
  t.true(await queue.add(asker, () => Promise.resolve(true)));
});
