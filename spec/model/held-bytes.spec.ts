// What is held together stays within its bound: whoever holds most lets go first.

import test from 'ava';
import fc from 'fast-check';
import { type Account, type HeldKind, Ledger, mostHeldBytes } from '../../lib/model/held-bytes.ts';

const mebibyte = 1024 * 1024;

function openIn(ledger: Ledger, owner: string, kind: HeldKind = 'steps') {
  const asked: number[] = [];
  const account: Account = ledger.open({
    kind,
    owner,
    letGo(bytes) {
      asked.push(bytes);
      account.set(0);
    },
  });
  return { account, asked };
}

test('a sixteenth of the heap may be held, and 64 MiB at least', (t) => {
  t.is(mostHeldBytes(4096 * mebibyte), 256 * mebibyte);
  t.is(mostHeldBytes(512 * mebibyte), 64 * mebibyte);
});

test('held bytes are counted by kind, and nobody has to release any below the limit', (t) => {
  const ledger = new Ledger(1000);
  const steps = openIn(ledger, 'a');
  const answers = openIn(ledger, 'b', 'answers');
  steps.account.set(600);
  steps.account.add(-100);
  answers.account.set(500);
  t.is(ledger.totalBytes, 1000);
  t.like(ledger.bytes, { steps: 500, answers: 500, sockets: 0 });
  t.deepEqual([steps.asked, answers.asked], [[], []]);
  steps.account.set(0);
  t.is(ledger.totalBytes, 500);
});

test('the owner that holds most lets go, its largest place first, until an eighth is free', (t) => {
  const ledger = new Ledger(1000);
  const small = Array.from({ length: 4 }, () => openIn(ledger, 'many'));
  for (const { account } of small) account.set(150);
  small[2]!.account.set(160);
  const single = openIn(ledger, 'single');
  single.account.set(300);
  const last = openIn(ledger, 'last');
  last.account.set(100);
  t.deepEqual(
    [...small, single, last].map(({ asked }) => asked.length),
    [0, 0, 1, 0, 0, 0],
  );
  t.is(ledger.totalBytes, 850);
  t.is(ledger.letGo.steps, 1);
});

test('the holder that adds may have to release', (t) => {
  const ledger = new Ledger(1000);
  openIn(ledger, 'other').account.set(400);
  const { account, asked } = openIn(ledger, 'greedy');
  account.set(500);
  account.add(200);
  t.is(asked.length, 1);
  t.is(account.bytes, 0);
  t.is(ledger.totalBytes, 400);
});

test('a holder that does not release is asked once each time, and the others after it', (t) => {
  const ledger = new Ledger(1000);
  let asked = 0;
  const stubborn = ledger.open({ kind: 'steps', owner: 'stubborn', letGo: () => asked++ });
  stubborn.set(900);
  const other = openIn(ledger, 'other');
  other.account.set(200);
  t.deepEqual([asked, other.asked.length], [1, 1]);
  t.is(ledger.totalBytes, 900);
});

test('the sums match the accounts after any changes, and never exceed the limit', (t) => {
  const change = fc.record({ owner: fc.nat(4), place: fc.nat(3), bytes: fc.nat(500) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const ledger = new Ledger(1000);
      const accounts = Array.from({ length: 5 }, (_, owner) =>
        Array.from({ length: 4 }, () => openIn(ledger, `owner ${owner}`).account),
      );
      for (const { owner, place, bytes } of changes) {
        accounts[owner]![place]!.set(bytes);
        const sum = accounts.flat().reduce((all, one) => all + one.bytes, 0);
        t.is(ledger.totalBytes, sum);
        t.true(sum <= 1000);
      }
      for (const one of accounts.flat()) one.set(0);
      t.is(ledger.totalBytes, 0);
      t.deepEqual(new Set(Object.values(ledger.bytes)), new Set([0]));
    }),
  );
});
