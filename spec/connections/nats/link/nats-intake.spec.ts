// What hubs send is worked through in turns: everything else has its own, no hub keeps another one waiting, and a bound holds.

import test from 'ava';
import { Intake, type MadeSteps, maxWaitingBytes, Shares } from '../../../../lib/connections/nats/link/nats-intake.ts';
import { createLogRecorder } from '../../../support/connection.ts';

/** Keeps this thread busy for so long. */
function work(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}

function* steps(count: number, ms: number, note = () => {}): MadeSteps {
  for (let step = 0; step < count; step++) {
    work(ms);
    note();
    yield;
  }
}

const round = () => new Promise((resolve) => setImmediate(resolve));

function start() {
  const log = createLogRecorder();
  return { log, intake: new Intake({ soon: setImmediate, log }) };
}

test('messages are processed immediately and in order while time remains', (t) => {
  const { intake } = start();
  const done: number[] = [];
  for (let number = 0; number < 5; number++)
    intake.take('west', 10, () => {
      done.push(number);
      return undefined;
    });
  t.deepEqual(done, [0, 1, 2, 3, 4]);
});

test('long work is done in rounds of some milliseconds, and waiting work comes after it', async (t) => {
  const { intake } = start();
  const done: string[] = [];
  let most = 0;
  let isOver = false;
  const measure = async () => {
    for (let before = done.length; !isOver; before = done.length) {
      await round();
      most = Math.max(most, done.length - before);
    }
  };
  const measuring = measure();
  const through = intake.goThrough(
    'west',
    steps(100, 2, () => done.push('step')),
  );
  intake.take('west', 10, () => {
    done.push('message');
    return undefined;
  });
  await through;
  await round();
  await round();
  isOver = true;
  await measuring;
  t.deepEqual(done, [...Array.from({ length: 100 }, () => 'step'), 'message']);
  t.true(most <= 5, `${most} steps of 2 ms without a turn for others`);
});

test('reading and processing share one time budget per round, and waiting work leaves some of it', async (t) => {
  let nowMs = 0;
  let soon: (() => void)[] = [];
  const intake = new Intake({ soon: (work) => soon.push(work), log: createLogRecorder(), now: () => nowMs });
  const endRound = () => {
    const works = soon;
    soon = [];
    for (const one of works) one();
  };
  const end = intake.begin();
  nowMs += 4;
  let done = 0;
  const take = (hub: string) =>
    intake.take(hub, 10, () => {
      nowMs += 2;
      done++;
      return undefined;
    });
  take('west');
  take('west');
  t.is(done, 1, 'within what is read, one that began in time');
  end();
  t.false(intake.hasTime);
  nowMs += 1000; // others have their turns
  t.false(intake.hasTime, 'of this round it has had its time');
  for (let number = 0; number < 10; number++) take('west');
  endRound();
  t.true(done >= 2 && done <= 3, `${done}`);
  t.true(intake.hasTime, 'what waits leaves some of it for what is read');
  t.is(soon.length, 1);
  for (let rounds = 0; soon.length > 0; rounds++) {
    t.true(rounds < 20);
    endRound();
  }
  t.is(done, 12);
});

test('a hub with much waiting work delays no other', async (t) => {
  const { intake } = start();
  let busy = 0;
  for (let number = 0; number < 500; number++)
    intake.take('busy', 1000, () => {
      work(1);
      busy++;
      return undefined;
    });
  await round();
  let isDone = false;
  intake.take('west', 10, () => {
    isDone = true;
    return undefined;
  });
  await round();
  await round();
  t.true(isDone);
  t.true(busy < 100, `${busy} of the busy hub by then`);
});

test('the queue of a hub is bounded: further messages are refused, counted and logged, and other hubs keep their share', async (t) => {
  const { intake, log } = start();
  let taken = 0;
  const take = (hub: string) =>
    intake.take(hub, 100_000, () => {
      work(1);
      taken++;
      return undefined;
    });
  const count = Math.ceil((1.5 * maxWaitingBytes) / 100_000);
  for (let number = 0; number < count; number++) take('evil');
  const refused = intake.refusedOf('evil');
  t.true(refused > count / 4 && refused < count / 2, `${refused} of ${count}`);
  t.regex(log.lines[0]!.message, /^hub "evil" sends more than this hub can process/);
  take('west');
  t.is(intake.refusedOf('west'), 0);
  for (let rounds = 0; rounds < 1000 && taken < count + 1 - refused; rounds++) await round();
  t.is(taken, count + 1 - refused);
  take('evil');
  await round();
  t.is(intake.refusedOf('evil'), refused, 'there is room again');
});

test('failed work is reported to its caller, or logged, and the next work continues', async (t) => {
  const { intake, log } = start();
  await t.throwsAsync(
    intake.run('west', () => {
      throw new Error('no');
    }),
    { message: 'no' },
  );
  t.is(await intake.run('west', () => 7), 7);
  intake.take('west', 1, () => {
    throw new Error('broken');
  });
  t.regex(log.lines.at(-1)!.message, /could not be processed: broken$/);
  t.is(await intake.run('west', () => 8), 8);
});

test('if all have used up the budget, each still has an even share', (t) => {
  const shares = new Shares(10, 20);
  t.true(shares.take('a', 10));
  t.false(shares.take('a', 1));
  t.true(shares.take('b', 10));
  t.true(shares.take('c', 5), 'a third of 20, or less');
  t.false(shares.take('c', 5));
  t.true(shares.take('d', 4));
  shares.give('a', 10);
  shares.give('b', 10);
  t.true(shares.take('c', 5));
  t.is(shares.of('a'), 0);
  t.is(shares.of('c'), 10);
});
