import test from 'ava';
import { ratioOf, runRounds, summaryOf } from '../../../bench/harness/rounds.ts';
import type { Contender } from '../../../bench/harness/subject.ts';

const silent = () => {};

test('contenders alternate, and the order is reversed each round', async (t) => {
  const order: string[] = [];
  const contender = (name: string): Contender => ({
    name,
    role: 'peer',
    measure: async () => {
      order.push(name);
      return {};
    },
  });
  await runRounds({ name: 'case', metrics: [], contenders: ['a', 'b', 'c'].map(contender) }, 3, silent);
  t.is(order.join(''), 'abccbaabc');
});

test('a wrong round is a mistake and the other rounds count', async (t) => {
  const rates = [100, undefined, 300];
  const hub: Contender = {
    name: 'hub',
    role: 'hub',
    measure: async () => {
      const rate = rates.shift();
      if (rate === undefined) throw new Error('socket 3, byte 7: expected "a", got "b"');
      return { rate };
    },
  };
  const ceiling: Contender = { name: 'raw', role: 'ceiling', measure: async () => ({ rate: 200 }) };
  const result = await runRounds({ name: 'case', metrics: [], contenders: [hub, ceiling] }, 3, silent);
  t.deepEqual(result.mistakes, ['case, round 2, hub: socket 3, byte 7: expected "a", got "b"']);
  const [ours, theirs] = result.contenders;
  t.deepEqual(summaryOf(ours!, 'rate'), { median: 200, least: 100, most: 300 });
  t.deepEqual(ratioOf(ours!, theirs!, 'rate'), { median: 1, least: 0.5, most: 1.5 });
  t.is(summaryOf(ours!, 'no such figure'), undefined);
});

test('a figure that a process could not measure, and told as null, is unknown and no mistake', async (t) => {
  const told: string[] = [];
  const hub: Contender = { name: 'hub', role: 'hub', measure: async () => JSON.parse('{"rate":100,"p99":null}') };
  const result = await runRounds({ name: 'case', metrics: [], contenders: [hub] }, 1, (line) => told.push(line));
  t.deepEqual(told, ['case, round 1, hub: rate 100, p99 unknown']);
  t.deepEqual(result.mistakes, []);
  t.is(summaryOf(result.contenders[0]!, 'p99'), undefined);
});
