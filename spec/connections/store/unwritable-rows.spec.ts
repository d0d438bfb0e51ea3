// A row that no database takes stops none of the others: it is left out of values, history and audit, counted, and told once. Such a row
// comes in by a gateway that does not look at what it takes over.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import type { Value } from '../../../lib/model/value.ts';
import { eventually } from '../../support/deadline.ts';
import { statusOf, writer } from '../../support/hub.ts';
import { noted, readAudit } from '../../support/store/audit.ts';
import { findKept } from '../../support/store/kept.ts';
import { install, type StoredHub } from '../../support/store/store.ts';

const desk = { type: 'dummy', parameters: ['count,I,1', 'lamp,B,false', 'level,F,0', 'text,S,none'] };

function takeOver(hub: StoredHub, address: string, value: unknown, time = Date.now()): void {
  const reported = { value: value as Value, origin: writer, cause: undefined, hop: 0, time };
  hub.turn(() => hub.mirroring.mirror(hub.find(address)!, reported));
}

/** Without that a disk was slow, which a busy machine's is. */
const reasonOf = (hub: StoredHub) =>
  statusOf(hub, 'store').reason.replaceAll(/\w+ are written with a lag of \d+ ms: the disk is slow; /g, '');

for (const [what, value, time] of [
  ['half a whole number', 1.5, undefined],
  ['a whole number that is no number', Number.NaN, undefined],
  ['a time that is none', 7, Number.NaN],
  ['a time that no date has', 7, 1e300],
] as const)
  test(`${what} is skipped, and the rows before and after it are kept`, async (t) => {
    const installation = await install(t, { desk });
    const hub = await installation.start();
    await eventually(() => statusOf(hub, 'store').state === 'running');
    hub.write('desk/count', 5, writer);
    await noted(installation, ({ after }) => after === 5);
    hub.write('desk/level', 1, writer);
    takeOver(hub, 'desk/count', value, time);
    hub.write('desk/text', 'later', writer);
    await eventually(() =>
      ['entries', 'values', 'changes'].every((rows) => reasonOf(hub).includes(`${rows} that the`)),
    );
    t.is(reasonOf(hub).split(', starting with ').length, 4);
    const reported = reasonOf(hub);
    hub.write('desk/lamp', true, writer);
    takeOver(hub, 'desk/count', value === 7 ? 8 : 2.5, time);
    hub.write('desk/text', 'last', writer);
    await noted(installation, ({ after }) => after === 'last');
    await hub.persistence.archive?.history?.flush();
    t.is(reasonOf(hub), reported, 'it is told once');
    await eventually(() => hub.persistence.archive?.audit?.status().lost === 2, 'two entries left out');
    await hub.stop();
    const { values, losses } = await findKept(installation);
    t.deepEqual(losses, []);
    t.deepEqual(values, { 'desk/level': 1, 'desk/lamp': true, 'desk/text': 'last' }, 'no value that it had before');
    t.deepEqual(
      readAudit(installation)
        .filter(({ kind }) => kind === 'change')
        .map(({ address, after }) => [address, after]),
      [
        ['desk/count', 5],
        ['desk/level', 1],
        ['desk/text', 'later'],
        ['desk/lamp', 1],
        ['desk/text', 'last'],
      ],
    );
    const database = new DatabaseSync(join(installation.folder, 'data', 'history.db'), { readOnly: true });
    const events = database
      .prepare("SELECT value FROM event WHERE address = 'desk/text' ORDER BY time, revision")
      .all();
    database.close();
    t.deepEqual(
      events.map((event) => event.value),
      ['none', 'later', 'last'],
    );
  });
