// The ceiling of one write through one rule: two BehaviorSubjects of rxjs and a subscription that carries the value over.

import { BehaviorSubject } from 'rxjs';
import { runTask } from '../../spec/support/system/task.ts';
import { timeWrites, type WriteTask } from '../load/writes/timed.ts';

await runTask(async (task: WriteTask) => {
  const from = new BehaviorSubject(0);
  const to = new BehaviorSubject(0);
  from.subscribe({ next: (value) => to.next(value) });
  return timeWrites(
    task,
    (value) => from.next(value),
    (count) => (to.value === count ? undefined : `expected ${count}, got ${to.value}`),
  );
});
