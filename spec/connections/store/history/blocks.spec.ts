// Changes of one parameter that come together are kept in blocks: whatever order, value, writer and cause they have, readers and people find
// each of them as it was. A block that is not whole is left out, and a file of an earlier version goes on.

import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import * as fc from 'fast-check';
import { Columns } from '../../../../lib/connections/store/history/columns.ts';
import type { Changes, ParameterRow } from '../../../../lib/connections/store/history/history-messages.ts';
import { PastDatabase } from '../../../../lib/connections/store/reader/past-database.ts';
import { type MadeHistory, makeHistory } from '../../../support/store/history.ts';

const hour = 3_600_000;
const noon = 500_000 * hour;
const types = ['F', 'I', 'B', 'S', 'T'] as const;
const writers = [
  ['client', 'anna', ''],
  ['rule', 'copies', 'flow.json5'],
] as const;

interface Recorded {
  readonly parameter: number;
  readonly time: number;
  readonly revision: number;
  readonly value: number | string;
  readonly writer: number;
  readonly source: number;
  /** 0: there is none. */
  readonly cause: number;
}

const valuesOfType = (type: (typeof types)[number]): fc.Arbitrary<number | string> => {
  if (type === 'F')
    return fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one || 0),
    );
  if (type === 'S') return fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.constant('a\0b "c" \\'));
  return type === 'I' ? fc.maxSafeInteger() : fc.constant(1);
};
const change = fc.integer({ min: 1, max: types.length }).chain((parameter) =>
  fc.record({
    parameter: fc.constant(parameter),
    afterMs: fc.oneof(
      { weight: 20, arbitrary: fc.integer({ min: 0, max: 900 }) },
      { weight: 2, arbitrary: fc.integer({ min: -30, max: 0 }) },
      { weight: 1, arbitrary: fc.constant(hour / 3) },
    ),
    value: valuesOfType(types[parameter - 1]!),
    writer: fc.constantFrom(1, 1, 1, 2),
    source: fc.constantFrom(1, 1, 1, 2),
    cause: fc.constantFrom(0, 1, 1, 2),
  }),
);

function columnsOf(changes: readonly Recorded[]): Columns {
  const columns = new Columns();
  for (const { parameter, time, revision, value, writer, source, cause } of changes) {
    const row = columns.length++;
    columns.time[row] = time;
    columns.revision[row] = revision;
    columns.value[row] = typeof value === 'string' ? columns.addText(value) : value;
    columns.parameter[row] = parameter;
    columns.writer[row] = writer;
    columns.source[row] = source;
    columns.cause[row] = cause;
    columns.causeTime[row] = time - cause * 2;
    columns.causeRevision[row] = Math.max(0, revision - cause);
  }
  return columns;
}

function handed(changes: readonly Recorded[], until: number, isFirst: boolean): Changes {
  const parameters = types.map((type, index): ParameterRow => [index + 1, `desk/${type}`, type, 0]);
  return { columns: [columnsOf(changes).hand()], parameters: isFirst ? parameters : [], writers, until };
}

const stored = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value);
const byPlace = (one: Recorded, other: Recorded) => one.time - other.time || one.revision - other.revision;

function expectAll(t: ExecutionContext, history: MadeHistory, all: readonly Recorded[]): void {
  const ids = history.read('SELECT id FROM parameter ORDER BY address').map(({ id }) => id);
  const shown = history.read(
    `SELECT address, time, revision, CAST(value AS BLOB) AS bytes, typeof(value) AS type, writer, source, cause, cause_time
     FROM event ORDER BY time, revision`,
  );
  t.is(shown.length, all.length);
  t.is(history.read('SELECT count(*) AS count FROM change')[0]!.count, all.length);
  const reader = new PastDatabase(history.path);
  t.teardown(() => reader.close());
  for (const [index, type] of types.entries()) {
    const own = all.filter(({ parameter }) => parameter === index + 1).sort(byPlace);
    const series = reader.find(`desk/${type}`, type)!;
    if (own.length === 0) continue;
    const hours = reader.changedHours(series, noon - hour, noon + 100 * hour);
    const found = hours.flatMap((at) => reader.changes(series, at, 0, 2 * noon, 'first', 1e9));
    t.deepEqual(
      found.map(([time, value, revision]) => [time, stored(value), revision]),
      own.map(({ time, value, revision }) => [time, value, revision]),
    );
    const middle = own[Math.floor(own.length / 2)]!;
    const ofHour = own.filter(({ time }) => Math.floor(time / hour) === Math.floor(middle.time / hour));
    const before = ofHour.filter(({ time }) => time < middle.time).slice(-3);
    const at = Math.floor(middle.time / hour) * hour;
    const last = reader.changes(series, at, 0, middle.time, 'last', 3);
    t.deepEqual(
      last.map(([, , revision]) => revision),
      before.map(({ revision }) => revision),
    );
    const events = reader.events(series, at, 0, middle, 1e9);
    t.deepEqual(
      events.map(([time, , revision]) => [time, revision]),
      ofHour
        .filter((one) => byPlace(one, middle) < 0)
        .map(({ time, revision }) => [time, revision])
        .reverse(),
    );
    const [time, value, revision, writer, source, causeParameter, causeTime, causeRevision] = reader.event(
      series,
      middle.time,
      middle.revision,
    )!;
    const { cause } = middle;
    t.deepEqual([time, stored(value), revision], [middle.time, middle.value, middle.revision]);
    t.deepEqual(
      [writer, source].map((id) => reader.writer(id)!.name),
      [writers[middle.writer - 1]![1], writers[middle.source - 1]![1]],
    );
    const causedBy =
      cause === 0
        ? [null, null, null]
        : [ids.indexOf(causeParameter), middle.time - cause * 2, Math.max(0, middle.revision - cause)];
    t.deepEqual([cause === 0 ? causeParameter : ids.indexOf(causeParameter), causeTime, causeRevision], causedBy);
    const row = shown.find((one) => one.revision === middle.revision)!;
    t.deepEqual(
      [row.address, row.time, row.writer, row.source, row.cause_time],
      [
        `desk/${type}`,
        middle.time,
        `${writers[middle.writer - 1]!.slice(0, 2).join(' ')}`,
        `${writers[middle.source - 1]!.slice(0, 2).join(' ')}`,
        causedBy[1],
      ],
    );
    t.is(
      row.type,
      { F: 'real', I: 'integer', B: 'integer', T: 'integer', S: String(middle.value).includes('\0') ? 'blob' : 'text' }[
        type
      ],
    );
  }
}

test('D-47: every recording is found unchanged, in blocks and beside them', async (t) => {
  let blocks = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 60 }), { minLength: 1, maxLength: 5 }), async (batches) => {
      const history = await makeHistory(t);
      history.open(noon);
      const all: Recorded[] = [];
      let now = noon;
      let revision = 0;
      for (const [index, batch] of batches.entries()) {
        const made = batch.map(({ afterMs, ...one }): Recorded => {
          now += afterMs;
          return { ...one, time: now, revision: ++revision };
        });
        all.push(...made);
        t.is(history.take(handed(made, now, index === 0)).trouble, undefined);
      }
      blocks += history.read('SELECT count(*) AS count FROM change_block')[0]!.count as number;
      expectAll(t, history, all);
      history.close();
    }),
    { numRuns: 15 },
  );
  t.true(blocks > 20, `${blocks} blocks`);
});

/** So many changes of the float, a millisecond apart. */
const row = (from: number, count: number) =>
  Array.from({ length: count }, (_, index): Recorded => {
    const at = from + index;
    return { parameter: 1, time: noon + at, revision: at + 1, value: at / 4, writer: 1, source: 1, cause: 0 };
  });
const edit = (history: MadeHistory, sql: string) => {
  const database = new DatabaseSync(history.path);
  database.exec(sql);
  database.close();
};
const found = (history: MadeHistory) => {
  const reader = new PastDatabase(history.path);
  const times = reader
    .changes(reader.find('desk/F', 'F')!, noon, 0, 2 * noon, 'first', 1e9)
    .map(([time]) => time - noon);
  reader.close();
  return times;
};
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

for (const [how, what] of [
  ['cut', 'substr(changes, 1, length(changes) - 9)'],
  ['cut between two changes', "substr(changes, 1, 7) || ']'"],
  ['of which a digit has turned', "replace(changes, ',1,0.25', ',1,0.75')"],
  ['that is no JSON', "'nothing'"],
])
  test(`a block ${how} is found when it is read, or at the next start, and costs no other`, async (t) => {
    const history = await makeHistory(t);
    history.open(noon);
    for (const from of [0, 10, 20]) history.take(handed(row(from, 10), noon + from + 10, from === 0));
    edit(history, `UPDATE change_block SET changes = ${what} WHERE time = ${noon}`);
    t.throws(() => found(history), { message: /differs from what was written/ });
    t.true((history.read('SELECT count(*) AS count FROM event')[0]!.count as number) >= 20, 'people can read on');
    history.end();
    const { trouble, losses } = history.open(noon + 40);
    t.deepEqual([trouble, losses], [undefined, [`lost the changes in 1 damaged row of ${history.path}`]]);
    t.deepEqual(found(history), numbers(10, 30));
    t.is(history.take(handed(row(50, 10), noon + 60, true)).trouble, undefined);
    t.deepEqual(found(history), [...numbers(10, 30), ...numbers(50, 60)]);
  });

test('an entry that is repeated after the file was reopened exists once', async (t) => {
  const history = await makeHistory(t);
  history.open(noon);
  history.take(handed(row(0, 10), noon + 10, true));
  history.open(noon + 10);
  history.take(handed([...row(9, 1), ...row(10, 5)], noon + 15, true));
  t.deepEqual(found(history), numbers(0, 15));
  t.is(history.read('SELECT count(*) AS count FROM change')[0]!.count, 15);
  history.take(handed(row(20, 1), noon + 21, true));
  history.open(noon + 21);
  history.take(handed([...row(20, 1), ...row(21, 5)], noon + 26, true));
  t.deepEqual(found(history), [...numbers(0, 15), ...numbers(20, 26)]);
  t.is(history.read('SELECT count(*) AS count FROM change')[0]!.count, 21, 'also of one that has a row of its own');
});

test('a file of an earlier version, with one table of changes, continues', async (t) => {
  const history = await makeHistory(t);
  history.open(noon);
  history.take(handed(row(0, 10), noon + 10, true));
  history.end();
  edit(
    history,
    `CREATE TABLE former AS SELECT * FROM change; DROP VIEW event; DROP VIEW change; DROP VIEW block_change; DROP TABLE change_block;
     INSERT INTO change_row SELECT * FROM former; DROP TABLE former; ALTER TABLE change_row RENAME TO change;
     CREATE VIEW event AS SELECT address, time, value FROM change JOIN parameter ON id = parameter`,
  );
  t.deepEqual(found(history), numbers(0, 10), 'a reader finds it before it is opened to be written');
  t.is(history.open(noon + 20).trouble, undefined);
  history.take(handed(row(20, 10), noon + 30, true));
  const expected = [...numbers(0, 10), ...numbers(20, 30)];
  t.deepEqual(found(history), expected);
  t.deepEqual(
    history
      .read("SELECT time FROM event WHERE address = 'desk/F' ORDER BY time")
      .map(({ time }) => (time as number) - noon),
    expected,
  );
});
