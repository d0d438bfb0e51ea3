// Whose question is next.

import test from 'ava';
import { QuestionQueue } from '../../../../lib/connections/store/reader/past-reader.ts';

interface Question {
  readonly asker: string;
  readonly name: string;
  readonly weight: number;
  isWanted(): boolean;
  drop(): void;
}

function queueOf(t: { fail(message: string): void }, ...names: string[]): QuestionQueue<Question> {
  const queue = new QuestionQueue<Question>();
  for (const name of names)
    queue.add({
      asker: name.slice(0, 3),
      name,
      weight: Number(name.slice(4)),
      isWanted: () => true,
      drop: () => t.fail(`${name} is dropped`),
    });
  return queue;
}

const take = (queue: QuestionQueue<Question>, most: number) => queue.takeSome(most).map(({ name }) => name);

test('askers take turns', (t) => {
  const queue = queueOf(t, 'ann 1', 'ann 2', 'ann 3', 'bob 1', 'bob 2', 'cem 1');
  t.deepEqual(take(queue, 9), ['ann 1', 'bob 1', 'cem 1', 'ann 2', 'bob 2', 'ann 3']);
});

test('at most a certain weight is taken at a time, but always at least one', (t) => {
  const queue = queueOf(t, 'ann 1', 'ann 9', 'ann 1', 'bob 2', 'bob 2');
  const some = () => queue.takeSome(9, 3).map(({ name }) => name);
  t.deepEqual([some(), some(), some()], [['ann 1', 'bob 2'], ['ann 9'], ['bob 2', 'ann 1']]);
});

for (const answered of [0, 1, 2, 3, 4])
  test(`${answered} of four are answered, the others are put back and come next, in their order`, (t) => {
    const queue = queueOf(t, 'ann 1', 'ann 2', 'ann 3', 'bob 1', 'bob 2', 'cem 1');
    const taken = queue.takeSome(4);
    queue.putBack(taken.slice(answered));
    t.is(queue.size, 6 - answered);
    const all = [...taken.slice(0, answered).map(({ name }) => name), ...take(queue, 9)];
    t.deepEqual(all.slice(0, 3), ['ann 1', 'bob 1', 'cem 1']);
    t.deepEqual(all.toSorted(), ['ann 1', 'ann 2', 'ann 3', 'bob 1', 'bob 2', 'cem 1']);
    t.is(queue.size, 0);
  });

test('one by one, with the others put back each time, is the order of all at once', (t) => {
  const names = ['ann 1', 'ann 2', 'ann 3', 'ann 5', 'bob 1', 'bob 2'];
  const queue = queueOf(t, ...names);
  const order: string[] = [];
  for (let some = queue.takeSome(2); some.length > 0; some = queue.takeSome(2)) {
    order.push(some[0]!.name);
    queue.putBack(some.slice(1));
  }
  t.deepEqual(order, take(queueOf(t, ...names), 9));
});
