// What waits to be noted: each change by itself up to a rate; above it one for each user, address and second; and a bound.

import test from 'ava';
import type { AuditRow } from '../../../../lib/connections/store/audit/audit-messages.ts';
import {
  AuditQueue,
  exactRowsPerSecond,
  maxBatchRows,
  maxWaitingRows,
} from '../../../../lib/connections/store/audit/audit-queue.ts';
import type { Change, Origin, Parameter } from '../../../../lib/model/parameter.ts';

const users: Origin[] = ['a', 'b'].map((name) => ({ kind: 'client', name }));
const parameters = Array.from(
  { length: 3 },
  (_, index) => ({ address: `desk/p${index}`, type: 'I' }) as unknown as Parameter,
);
let last = 0;
const change = (parameter: Parameter, origin: Origin, time: number): Change =>
  ({ parameter, origin, time, previous: last, value: ++last }) as unknown as Change;

function takeAll(queue: AuditQueue): AuditRow[] {
  const rows: AuditRow[] = [];
  while (queue.length > 0) rows.push(...queue.take().map((row) => ({ ...row })));
  return rows;
}

test('below the rate limit each change is an entry, with consecutive numbers', (t) => {
  const queue = new AuditQueue();
  queue.startAfter(7);
  for (let count = 0; count < exactRowsPerSecond; count++) queue.addChange(change(parameters[0]!, users[0]!, 1000));
  const rows = takeAll(queue);
  t.is(rows.length, exactRowsPerSecond);
  t.true(rows.every(({ n, count }, index) => n === 8 + index && count === 1));
});

test('above the rate limit one entry counts the changes of a user, an address and a second, from the first value to the last', (t) => {
  const queue = new AuditQueue();
  for (let count = 0; count < exactRowsPerSecond; count++) queue.addChange(change(parameters[0]!, users[0]!, 1000));
  const before = last;
  for (let round = 0; round < 100; round++)
    for (const user of users) for (const parameter of parameters) queue.addChange(change(parameter, user, 1999));
  t.is(queue.length, exactRowsPerSecond + 6);
  queue.addChange(change(parameters[0]!, users[0]!, 2000));
  const rows = takeAll(queue).slice(exactRowsPerSecond);
  t.deepEqual(
    rows.map(({ user, address, before, after, count }) => [user, address, before, after, count]),
    [
      ...users.flatMap(({ name }, user) =>
        parameters.map(({ address }, index) => {
          const first = before + user * 3 + index;
          return [name, address, first, first + 99 * 6 + 1, 100];
        }),
      ),
      ['a', 'desk/p0', last - 1, last, 1],
    ],
  );
});

test('a taken entry is written again, under its number, when its count grows', (t) => {
  const queue = new AuditQueue();
  for (let count = 0; count <= exactRowsPerSecond; count++) queue.addChange(change(parameters[0]!, users[0]!, 1000));
  const taken = takeAll(queue).at(-1)!;
  for (let count = 0; count < 3; count++) queue.addChange(change(parameters[0]!, users[0]!, 1500));
  const [again, ...more] = takeAll(queue);
  t.is(more.length, 0);
  t.like(again, { n: taken.n, before: taken.before, count: 4, after: last });
});

test('waiting entries are limited: lost ones are counted, and reported', (t) => {
  const queue = new AuditQueue();
  for (let second = 0; queue.length < maxWaitingRows; second++)
    for (let count = 0; count < exactRowsPerSecond; count++) {
      const parameter = { address: `desk/${second}/${count}`, type: 'I' } as unknown as Parameter;
      queue.addChange(change(parameter, users[0]!, second * 1000));
    }
  const parameter = { address: 'desk/late', type: 'I' } as unknown as Parameter;
  for (let count = 0; count < 5; count++) queue.addChange(change(parameter, users[0]!, 1e6));
  t.is(queue.length, maxWaitingRows);
  t.is(queue.lost, 5);
  t.is(queue.take().length, maxBatchRows);
  const rest = takeAll(queue);
  t.like(rest.at(-1), {
    kind: 'lost',
    user: 'hub',
    time: 1e6,
    count: 5,
    cause: 'entries arrived faster than they could be written',
  });
});
