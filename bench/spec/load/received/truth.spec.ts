import test from 'ava';
import { Truth } from '../../../load/received/truth.ts';

function createTruth(): Truth {
  const truth = new Truth(3, 100);
  for (const parameter of [0, 1, 0, 2]) truth.write(parameter); // values 1 to 4, revisions 101 to 104
  return truth;
}

test('a snapshot is right when each value is the newest of its revision, or newer', (t) => {
  t.is(createTruth().differenceAt(102, Float64Array.of(1, 2, 0)), undefined);
  t.is(createTruth().differenceAt(102, Float64Array.of(3, 2, 4)), undefined);
  t.is(createTruth().differenceAt(104, Float64Array.of(3, 2, 4)), undefined);
  t.is(createTruth().revision, 104);
});

test('a value that is too old, missing, or was never written is reported', (t) => {
  t.regex(createTruth().differenceAt(103, Float64Array.of(1, 2, 0))!, /parameter 0 is 1 at revision 103, expected 3/);
  t.regex(createTruth().differenceAt(102, Float64Array.of(1, 0, 0))!, /parameter 1 is 0 at revision 102, expected 2/);
  t.regex(createTruth().differenceAt(100, Float64Array.of(2, 0, 0))!, /parameter 0 is 2, which was never written/);
});

test('how many parameters changed between two revisions', (t) => {
  const truth = createTruth();
  t.is(truth.changedBetween(100, 100), 0);
  t.is(truth.changedBetween(100, 103), 2);
  t.is(truth.changedBetween(102, 103), 1);
  t.is(truth.changedBetween(101, 104), 3);
});
