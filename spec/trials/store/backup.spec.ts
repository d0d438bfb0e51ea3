import test from 'ava';
import { holds } from '../short.ts';
import { checkMoment } from './backup.ts';

holds(
  'a backup of a hub that changes is restored as one moment of what was written',
  'backup',
  /^1 backups, 0 of them with a mistake; [1-9]\d* changes;/m,
);

test('a backup of more than one moment is found', (t) => {
  const values = new Map<string, number>([['desk/last', 4]]);
  for (const number of [2, 3, 4]) for (const side of ['a', 'b']) values.set(`desk/${side}${number % 3}`, number);
  t.deepEqual(checkMoment(values, 3, 0, 4), []);
  t.is(checkMoment(new Map(values).set('desk/b0', 0), 3, 0, 4).length, 1);
  t.is(checkMoment(values, 3, 5, 9).length, 1);
});
