// Who has which rule open.

import test from 'ava';
import { maxSheets, maxSheetsPerUser, OpenSheets, sheetLastsMs } from '../../lib/hub/open-sheets.ts';

function start() {
  const clock = { now: 1000 };
  return { clock, sheets: new OpenSheets(() => clock.now) };
}

test('each sheet gets the others of its file, with the time at which they were opened', (t) => {
  const { clock, sheets } = start();
  t.deepEqual(sheets.open('/a', '1', 'anna', 'lamp'), []);
  clock.now = 2000;
  t.deepEqual(sheets.open('/a', '1', 'ben', 'lamp'), [{ user: 'anna', rule: 'lamp', since: 1000 }]);
  t.deepEqual(sheets.open('/b', '1', 'cleo', 'lamp'), [], 'another file');
  clock.now = 3000;
  t.deepEqual(sheets.open('/a', '1', 'anna', 'lamp'), [{ user: 'ben', rule: 'lamp', since: 2000 }]);
  t.deepEqual(
    sheets.open('/a', '2', 'anna', 'lamp').map(({ user, since }) => [user, since]),
    [
      ['anna', 1000],
      ['ben', 2000],
    ],
    'a second window of the same user',
  );
});

test('a closed sheet is gone immediately, a silent one after its time; nobody closes that of another user', (t) => {
  const { clock, sheets } = start();
  sheets.open('/a', '1', 'anna', 'lamp');
  sheets.open('/a', '1', 'ben', 'lamp');
  sheets.close('1', 'cleo');
  const others = () => sheets.open('/a', '9', 'cleo', 'lamp').map(({ user }) => user);
  t.deepEqual(others(), ['anna', 'ben']);
  sheets.close('1', 'anna');
  t.deepEqual(others(), ['ben']);
  clock.now += sheetLastsMs - 1;
  t.deepEqual(others(), ['ben']);
  clock.now += 1;
  t.deepEqual(others(), []);
});

test('the number of sheets is bounded, also for one user', (t) => {
  const { sheets } = start();
  for (let sheet = 0; sheet < 3 * maxSheetsPerUser; sheet++) sheets.open('/a', String(sheet), 'anna', 'lamp');
  t.is(sheets.open('/a', '1', 'ben', '').length, maxSheetsPerUser);
  for (let user = 0; user < maxSheets + 10; user++) sheets.open('/a', '1', `user ${user}`, 'lamp');
  t.is(sheets.open('/a', '1', 'ben', '').length, maxSheets - 1);
});
