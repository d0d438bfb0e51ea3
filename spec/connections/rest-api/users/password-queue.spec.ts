// Whose password is compared next.

import test from 'ava';
import type { LimitError } from '../../../../lib/connections/rest-api/limits/limit-error.ts';
import { limits } from '../../../../lib/connections/rest-api/limits/limits.ts';
import { PasswordQueue } from '../../../../lib/connections/rest-api/users/password-queue.ts';

const most = limits.passwords.default;

/** A queue that notes the order in which passwords of networks are compared, which nobody begins before `begin`. */
function createQueue() {
  const queue = new PasswordQueue();
  const order: string[] = [];
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const add = (network: string) =>
    queue.add(network, async () => {
      await begun;
      order.push(network);
      return true;
    });
  return { add, order, begin };
}

test('networks take turns, so one that sends many holds up nobody else for longer than one of its own', async (t) => {
  const { add, order, begin } = createQueue();
  const all = [...'aaaaaa'].map(add);
  all.push(add('b'), add('c'), add('b'));
  begin();
  t.true((await Promise.all(all)).every(Boolean));
  t.is(order.join(''), 'aabcabaaa'); // the first one was being compared already
});

test('when too many wait, the network that has most loses its last one', async (t) => {
  const { add, order, begin } = createQueue();
  const greedy = Array.from({ length: most }, () => add('a'));
  const neighbour = add('b');
  const error = await t.throwsAsync<LimitError>(greedy.at(-1)!);
  t.is(error.limit, 'passwords');
  await t.throwsAsync<LimitError>(add('a'), { message: error.message });
  begin();
  t.true(await neighbour);
  t.deepEqual(order.slice(0, 3).toSorted(), ['a', 'a', 'b']);
  t.is((await Promise.all(greedy.slice(0, -1))).length, most - 1);
  t.true(await add('a'), 'then there is room again');
});

test('an error in one of them is told, and the next one is compared', async (t) => {
  const queue = new PasswordQueue();
  await t.throwsAsync(
    queue.add('a', () => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  );
  t.true(await queue.add('a', () => Promise.resolve(true)));
});
