import test from 'ava';
import { ratioOf, runRounds, summaryOf } from '../../harness/rounds.ts';
import type { Contender } from '../../harness/subject.ts';

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

test('a case ends after a first round in which a required contender was wrong', async (t) => {
  const wrongIn = async (rounds: readonly number[], isNeeded?: boolean) => {
    let round = 0;
    const before: Contender = {
      name: 'before',
      role: 'ceiling',
      ...(isNeeded && { isNeeded }),
      measure: async () => {
        if (rounds.includes(++round)) throw new Error('expected an answer, got none');
        return { rate: 1 };
      },
    };
    const after: Contender = { name: 'after', role: 'hub', measure: async () => ({ rate: 2 }) };
    const { contenders } = await runRounds({ name: 'case', metrics: [], contenders: [before, after] }, 3, silent);
    return contenders.map(({ samples }) => samples.map((sample) => sample?.rate));
  };
  t.deepEqual(await wrongIn([1], true), [[undefined], [2]]);
  t.deepEqual(await wrongIn([2], true), [
    [1, undefined, 1],
    [2, 2, 2],
  ]);
  t.deepEqual(await wrongIn([1]), [
    [undefined, 1, 1],
    [2, 2, 2],
  ]);
});

test('a figure that a process reports as null is unknown, not a mistake', async (t) => {
  const reported: string[] = [];
  const hub: Contender = { name: 'hub', role: 'hub', measure: async () => JSON.parse('{"rate":100,"p99":null}') };
  const result = await runRounds({ name: 'case', metrics: [], contenders: [hub] }, 1, (line) => reported.push(line));
  t.deepEqual(reported, ['case, round 1, hub: rate 100, p99 unknown']);
  t.deepEqual(result.mistakes, []);
  t.is(summaryOf(result.contenders[0]!, 'p99'), undefined);
});

test('contenders with turns are started once in each round and measured in turn', async (t) => {
  const reported: string[] = [];
  const contender = (name: string): Contender => ({
    name,
    role: 'peer',
    measure: () => Promise.reject(new Error('expected to be started')),
    start: async () => {
      reported.push(`+${name}`);
      let rate = 0;
      return {
        measure: async () => ({ rate: reported.push(name) && rate++ }),
        stop: async () => void reported.push(`-${name}`),
      };
    },
  });
  const item = { name: 'case', metrics: [], contenders: ['a', 'b'].map(contender), turns: 3 };
  const { contenders, mistakes } = await runRounds(item, 2, silent);
  t.is(reported.join(''), '+a+babbaab-a-b+a+bbaabba-a-b');
  t.deepEqual(mistakes, []);
  t.deepEqual(
    contenders[1]!.samples.map((sample) => sample?.rate),
    [0, 1, 2, 0, 1, 2],
  );
});

test('a failed turn is a mistake, and a failed start is a mistake of its round', async (t) => {
  const stopped: string[] = [];
  const stop = (name: string) => async () => void stopped.push(name);
  let starts = 0;
  const hub: Contender = {
    ...{ name: 'hub', role: 'hub', measure: async () => ({}) },
    async start() {
      if (starts++ === 1) throw new Error('the port is taken');
      let turn = 0;
      const measure = async () => {
        if (turn++ === 1) throw new Error('it ended');
        return { rate: 1 };
      };
      return { measure, stop: stop('hub') };
    },
  };
  const ceiling: Contender = {
    ...{ name: 'raw', role: 'ceiling', measure: async () => ({}) },
    start: async () => ({ measure: async () => ({ rate: 2 }), stop: stop('raw') }),
  };
  const { mistakes, contenders } = await runRounds(
    { name: 'case', metrics: [], contenders: [ceiling, hub], turns: 2 },
    2,
    silent,
  );
  t.deepEqual(mistakes, ['case, round 1, turn 2, hub: it ended', 'case, round 2: the port is taken']);
  t.deepEqual(stopped, ['raw', 'hub', 'raw']);
  t.deepEqual(ratioOf(contenders[1]!, contenders[0]!, 'rate'), { median: 0.5, least: 0.5, most: 0.5 });
});
