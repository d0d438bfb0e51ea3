// Passwords as texts that do not tell them.

import { PassThrough } from 'node:stream';
import test from 'ava';
import { password } from '../../../../lib/command/password.ts';
import type { LimitError } from '../../../../lib/connections/rest-api/limits/limit-error.ts';
import { limits } from '../../../../lib/connections/rest-api/limits/limits.ts';
import { isPassword, readPasswordText } from '../../../../lib/connections/rest-api/users/password-text.ts';

const network = '10.0.0.1';

test('patchbay password prints a text that only the password fits, another one each time', async (t) => {
  const printed: string[] = [];
  const console = { print: (text: string) => void printed.push(text), printError: () => {} };
  for (let times = 0; times < 2; times++) {
    const input = new PassThrough();
    input.end('pässword:1\n');
    t.is(await password(input, console), 0);
  }
  t.not(printed[0], printed[1]);
  const { scrypt } = readPasswordText(printed[0]!);
  t.true(await isPassword('pässword:1', scrypt!, network));
  t.true(await isPassword('pa\u0308ssword:1', scrypt!, network), 'however the keyboard composes it');
  t.false(await isPassword('pässword:', scrypt!, network));
  const empty = new PassThrough();
  empty.end('\n');
  await t.throwsAsync(password(empty, console), { message: 'password: expected a line with a password, got none' });
});

test('so many passwords wait to be compared at most', async (t) => {
  const { scrypt } = readPasswordText(`$scrypt$ln=1,r=1,p=1$${'a'.repeat(22)}$${'a'.repeat(43)}`);
  const most = limits.passwords.default;
  const compared = Promise.all(Array.from({ length: most }, () => isPassword('x', scrypt!, network)));
  const error = await t.throwsAsync<LimitError>(isPassword('x', scrypt!, network), {
    message: `expected at most ${most} passwords at once, all are being compared`,
  });
  t.is(error.limit, 'passwords');
  t.is((await compared).length, most);
  t.false(await isPassword('x', scrypt!, network));
});

for (const [text, mistake] of [
  ['', /^expected a password, or what "patchbay password" prints, got "" \(string\)$/],
  ['$scrypt$', /^expected what "patchbay password" prints, .* got "\$scrypt\$" \(string\)$/],
  [`$scrypt$ln=30,r=8,p=1$${'a'.repeat(22)}$${'a'.repeat(43)}`, /of at most 256 MB, got ln=30,r=8,p=1$/],
  [`$scrypt$ln=15,r=0,p=1$${'a'.repeat(22)}$${'a'.repeat(43)}`, /of at most 256 MB, got ln=15,r=0,p=1$/],
] as const)
  test(`"${text.slice(0, 22)}" is no text of a password`, (t) => {
    t.regex(readPasswordText(text).mistake!, mistake);
  });
