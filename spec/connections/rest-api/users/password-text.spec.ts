// Passwords as texts that do not tell them.

import { scryptSync } from 'node:crypto';
import { PassThrough } from 'node:stream';
import test from 'ava';
import { password } from '../../../../lib/command/password.ts';
import { limits } from '../../../../lib/connections/rest-api/limits/client-limits.ts';
import type { LimitError } from '../../../../lib/connections/rest-api/limits/limit-hits.ts';
import { createPasswordCheck, readPasswordText } from '../../../../lib/connections/rest-api/users/passwords.ts';

const asker = { network: '10.0.0.1', suspicion: () => 1, isSlowed: () => false, isGone: () => false };
const slowed = { ...asker, isSlowed: () => true };

test('patchbay password prints text that only matches the password, a new one each time', async (t) => {
  const printed: string[] = [];
  const console = { print: (text: string) => void printed.push(text), printError: () => {} };
  for (let times = 0; times < 2; times++) {
    const input = new PassThrough();
    input.end('pässword:1\n');
    t.is(await password(input, console), 0);
  }
  t.not(printed[0], printed[1]);
  const check = createPasswordCheck(printed[0]!);
  t.true(check.isHashed);
  t.false(await check.isRight('pässword:', asker));
  t.true(await check.isRight('pässword:1', asker));
  t.true(await check.isRight('pa\u0308ssword:1', asker), 'however the keyboard composes it');
  const empty = new PassThrough();
  empty.end('\n');
  await t.throwsAsync(password(empty, console), { message: 'password: expected a line with a password, got none' });
});

/** What takes no time to compare. */
const quick = `$scrypt$ln=1,r=1,p=1$${'a'.repeat(22)}$${'a'.repeat(43)}`;

test('the number of waiting passwords is limited', async (t) => {
  const check = createPasswordCheck(quick);
  const most = limits.passwords.default + 1; // one is being compared
  const compared = Array.from({ length: most }, () => check.isRight('x', asker));
  t.is(await check.isRight('x', asker), false, 'the newest one finds room');
  const error = await t.throwsAsync<LimitError>(Promise.resolve(compared[1]), {
    message: `expected at most ${limits.passwords.default} passwords waiting to be checked, each for at most 10 s, got more: try again later`,
  });
  t.is(error.limit, 'passwords');
  const results = await Promise.allSettled(compared);
  t.true(
    results.some(({ status }) => status === 'fulfilled'),
    'others of this process may be in the queue as well',
  );
});

test('a password that was right once is remembered, but a comparison always takes the same time', async (t) => {
  const salt = Buffer.alloc(16, 'salt');
  const [saltText, hashText] = [salt, scryptSync('right', salt, 32, { N: 4, r: 8, p: 1 })].map((bytes) =>
    bytes.toString('base64').replace(/=+$/, ''),
  );
  const check = createPasswordCheck(`$scrypt$ln=2,r=8,p=1$${saltText}$${hashText}`);
  const first = check.isRight('right', asker);
  t.true(first instanceof Promise && (await first));
  t.is(check.isRight('right', slowed), true, 'immediately, whoever guesses');
  t.true(check.isRight('wrong', asker) instanceof Promise);
  t.true(
    check.takeAsLong('right', asker) instanceof Promise,
    'else the time would tell that somebody has this password',
  );
});

test('after too many mistakes a client waits, for any cost of the password, right or wrong', async (t) => {
  for (const check of [createPasswordCheck('right'), createPasswordCheck(quick)]) {
    const started = performance.now();
    await Promise.all(['right', 'wrong', 'other'].map((password) => check.isRight(password, slowed)));
    t.true(performance.now() - started >= 3 * 19, 'one at a time, 20 ms each');
    await check.takeAsLong('right', slowed);
    t.true(performance.now() - started >= 4 * 19);
  }
  const plain = createPasswordCheck('right');
  t.is(await plain.isRight('right', slowed), true);
  t.is(await plain.isRight('wrong', slowed), false);
  t.deepEqual(
    [plain.isRight('right', asker), plain.isRight('wrong', asker), plain.takeAsLong('x', asker)],
    [true, false, undefined],
  ); // prettier-ignore
});

for (const [text, mistake] of [
  ['', /^expected a password, or a hash from "patchbay password", got "" \(string\)$/],
  ['$scrypt$', /^expected a hash from "patchbay password", .* got "\$scrypt\$" \(string\)$/],
  [`$scrypt$ln=30,r=8,p=1$${'a'.repeat(22)}$${'a'.repeat(43)}`, /of at most 256 MB, got ln=30,r=8,p=1$/],
  [`$scrypt$ln=15,r=0,p=1$${'a'.repeat(22)}$${'a'.repeat(43)}`, /of at most 256 MB, got ln=15,r=0,p=1$/],
] as const)
  test(`"${text.slice(0, 22)}" is no text of a password`, (t) => {
    t.regex(readPasswordText(text).mistake!, mistake);
  });
