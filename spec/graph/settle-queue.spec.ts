// Waiting work is returned by its order and, if orders are equal, by its age, whatever is added in the meantime.

import test from 'ava';
import fc from 'fast-check';
import { SettleCall, SettleQueue, type SettleTask } from '../../lib/graph/settle-queue.ts';

interface Waiting {
  readonly task: SettleTask;
  readonly number: number;
}

/** The number of a task to add; undefined: take one. */
const steps = fc.array(fc.option(fc.nat({ max: 9 }), { nil: undefined }), { maxLength: 100 });
const orders = fc.array(fc.integer({ min: -2, max: 3 }), { minLength: 10, maxLength: 10 });

test('it returns the same as a list that is searched each time', (t) => {
  fc.assert(
    fc.property(orders, steps, (places, adds) => {
      const queue = new SettleQueue();
      const tasks = places.map((order) => new SettleCall({ order }, () => {}));
      let list: Waiting[] = [];
      const takeFromList = () => {
        const [first] = list.toSorted((a, b) => a.task.order - b.task.order || a.number - b.number);
        list = list.filter((waiting) => waiting !== first);
        return first?.task;
      };
      for (const [number, add] of [...adds, ...tasks.map(() => undefined)].entries()) {
        if (add === undefined) t.is(queue.takeFirst(), takeFromList());
        else {
          const task = tasks[add]!;
          queue.add(task, undefined, undefined);
          if (!list.some((waiting) => waiting.task === task)) list.push({ task, number });
        }
      }
      t.is(queue.takeFirst(), undefined);
    }),
  );
});

test('work that settles may add itself again', (t) => {
  const queue = new SettleQueue();
  const task = new SettleCall({ order: 1 }, () => {});
  queue.add(task, undefined, undefined);
  t.is(queue.takeFirst(), task);
  queue.add(task, undefined, undefined);
  t.is(queue.takeFirst(), task);
  t.is(queue.takeFirst(), undefined);
});
