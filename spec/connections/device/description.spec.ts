// What is wrong with a description is told at load, all of it at once, as mistakes of flow files are.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { compileDescription } from '../../../lib/connections/device/compile.ts';
import { loadFlows } from '../../../lib/hub/index.ts';
import { connectionTypes } from '../../support/connection-types.ts';
import { createFolder } from '../../support/folder.ts';
import { startHubFrom } from '../../support/hub.ts';
import { blocksOf, readReadme } from '../../support/repository/readme.ts';

/** The mistakes of a description, a line each, without the folder. */
async function mistakesOf(t: ExecutionContext, description: string, settings: object = {}): Promise<string[]> {
  const it = { type: 'device', tcp: 'device.local:9', protocol: './it.json5', ...settings };
  const rules = [{ from: 'it/level', to: 'it/lamp' }];
  const folder = await createFolder(t, { 'flow.json5': { connections: { it }, rules }, 'it.json5': description });
  const error = await t.throwsAsync(loadFlows([join(folder, 'flow.json5')], connectionTypes), { code: 'bad-flow' });
  return error!.message.replaceAll(`${folder}/`, '').split('\n');
}

test('every mistake has file, line, column and path, and the nearest name', async (t) => {
  t.deepEqual(
    await mistakesOf(
      t,
      `{
  about: 'It',
  frame: { end: '\\r' },
  secrets: ['password'],
  poll: '1x',
  parmeters: {},
  parameters: {
    level: { type: 'F', ask: { send: 'LEVEL?', reply: 'LEVEL={value:flaot}' } },
    'in/{n:1..8}/gain': { type: 'I', on: 'GAIN={value:int}', writ: {} },
    mute: { type: 'B', on: 'MUTE={valeu:on(ON,OFF)}' },
    lamp: { type: 'I', choices: { off: 'x' }, of: { statsu: 'LAMP={value:int}' }, write: { send: 'L {vlue:int} {= secret.pasword}' } },
    '{x': { type: 'I', on: '{value:int}' },
    nothing: { type: 'I' },
  },
  groups: { status: { send: 'STATUS', each: 'line' } },
}`,
    ),
    [
      'it.json5:5:3: poll: expected 10..86400000 ms or a duration such as "10s", got "1x"',
      'it.json5:9:62: parameters["in/{n:1..8}/gain"].writ: unknown setting "writ", did you mean "write"?',
      'it.json5:6:3: parmeters: unknown setting "parmeters", did you mean "parameters"?',
    ],
  );
  t.deepEqual(
    await mistakesOf(
      t,
      `{
  about: 'It',
  frame: { end: '\\r' },
  secrets: ['password'],
  parameters: {
    level: { type: 'F', ask: { send: 'LEVEL?', reply: 'LEVEL={value:flaot}' } },
    'in/{n:1..8}/gain': { type: 'I', on: 'GAIN={value:int}' },
    mute: { type: 'B', on: 'MUTE={valeu:on(ON,OFF)}' },
    lamp: { type: 'I', choices: { off: 'x' }, of: { statsu: 'LAMP={value:int}' }, write: { send: 'L {vlue:int} {= secret.pasword}' } },
    '{x': { type: 'I', on: '{value:int}' },
    nothing: { type: 'I' },
    sum: { type: 'I', on: { pattern: '{a:int},{b:int}', value: 'a + c' } },
    'out/{o:1..8}': { type: 'I', on: { pattern: 'OUT={a:int},{value:int}', where: { o: 'o + 1' } } },
  },
  groups: { status: { send: 'STATUS', each: 'line' } },
}`,
    ),
    [
      'it.json5:10:5: parameters["{x"]: expected a variable such as {n:0..39}, {side:L|R} or {name}, got "{x"',
      'it.json5:11:5: parameters.nothing: expected at least one of `on`, `of`, `ask` and `write`',
      'it.json5:9:53: parameters.lamp.of.statsu: unknown group "statsu", did you mean "status"?',
      'it.json5:7:38: parameters["in/{n:1..8}/gain"].on: expected {n} of in/{n:1..8}/gain in the pattern, or where: { n: … }, got {value}',
      'it.json5:8:24: parameters.mute.on: unknown name "valeu", did you mean "value"?',
      `it.json5:12:69: parameters.sum.on.value: unknown name "c", the names are value, index, id, secret, n, valeu, vlue, x, a, b, o; text needs quotes: 'c'`,
      'it.json5:13:89: parameters["out/{o:1..8}"].on.where.o: expected only names from the pattern, got "o", which `where` itself computes',
      'it.json5:6:62: parameters.level.ask.reply: unknown converter "flaot", did you mean "float"?',
      'it.json5:9:35: parameters.lamp.choices.off: expected a number, got "x" (string)',
      'it.json5:9:122: parameters.lamp.write.send: expression: unknown secret "pasword", did you mean "password"?',
    ],
  );
});

test('what can never be read is a mistake: an empty message, and a refusal that nobody waits for', async (t) => {
  t.deepEqual(
    await mistakesOf(
      t,
      `{
  about: 'It',
  frame: { end: ['\\r', ':'] },
  parameters: {
    level: { type: 'I', ask: { send: 'L?', until: '', reply: '{value:int}', fail: ['E', ''] }, write: { send: 'L {value:int}', fail: 'ERR', then: 'ask' } },
    lamp: { type: 'I', on: 'LAMP={value:int}', write: { send: '', reply: '', retryIf: 'BUSY' } },
  },
}`,
    ),
    [
      'it.json5:5:89: parameters.level.ask.fail[1]: expected at least one character, because the hub drops empty messages',
      'it.json5:5:44: parameters.level.ask.until: expected at least one character, because the hub drops empty messages',
      'it.json5:5:128: parameters.level.write.fail: expected `reply` as well: without it the hub does not wait for an answer',
      'it.json5:6:67: parameters.lamp.write.reply: expected at least one character, because the hub drops empty messages',
    ],
  );
});

test('mistakes in a table of lengths and in prompts have their places', async (t) => {
  const level = `parameters: { level: { type: 'I', on: '90 {value:uint} 00' } }`;
  t.deepEqual(
    await mistakesOf(
      t,
      `{
  about: 'It',
  format: 'hex',
  frame: { lengthBy: { at: 1, lengths: { '8x': 3, '90..80': 3, F0: 'FX', C0: 1, '10': 3 }, running: true } },
  ${level},
}`,
    ),
    [
      'it.json5:4:24: frame.lengthBy.at: expected 0 with `running`, got 1',
      'it.json5:4:81: frame.lengthBy.lengths.10: expected bytes from 80 upwards with `running`, got "10"',
      'it.json5:4:42: frame.lengthBy.lengths.8x: expected a byte or a range in hexadecimal digits, such as 90 or 80..8F, got "8x"',
      'it.json5:4:51: frame.lengthBy.lengths["90..80"]: expected the lower byte of the range first, got "90..80": write 80..90',
      'it.json5:4:64: frame.lengthBy.lengths.F0: expected a length, or the byte that ends the frame in hexadecimal digits, got "FX" (string)',
      'it.json5:4:74: frame.lengthBy.lengths.C0: expected a length greater than `at` (1), got 1',
    ],
  );
  t.deepEqual(await mistakesOf(t, `{ about: 'It', format: 'hex', frame: { bytes: 3, prompt: 'OK>' }, ${level} }`), [
    'it.json5:1:50: frame.prompt: expected `prompt` only with `end`, and without `start` or `block`: set `end`, and remove the others',
  ]);
});

test('a description that is malformed or missing is a mistake; so are names that a connection misspells', async (t) => {
  t.deepEqual(await mistakesOf(t, '{ about: "It", parameters: { '), [
    'it.json5:1:28: expected } to close {, got the end of the file',
  ]);
  const nmea = { protocol: 'nmea', tcp: undefined, serial: '/dev/ttyUSB0' };
  t.regex(
    (await mistakesOf(t, '', { ...nmea, protocol: 'nmae' }))[0]!,
    /unknown protocol "nmae", did you mean "nmea"\?/,
  );
  t.regex(
    (await mistakesOf(t, '', { protocol: './other.json5' }))[0]!,
    /expected a description .* in \.\/other\.json5, got none/,
  );
  t.regex(
    (await mistakesOf(t, '', { ...nmea, serial: undefined, ws: 'ws://x' }))[0]!,
    /expected serial or tcp or udp or listen/,
  );
  const wrong = { protocol: 'videohub', variables: { outptus: 3 }, secrets: { pin: 'x' }, expect: ['out/1,I'] };
  const found = (await mistakesOf(t, '', wrong)).join('\n');
  t.regex(found, /connections\.it\.variables\.outptus: unknown variable "outptus", did you mean "outputs"\?/);
  t.regex(found, /connections\.it\.secrets: unknown secret/);
  t.regex(
    found,
    /connections\.it\.expect\[0\]: "out\/1" does not match any discovered parameter: the description declares none/,
  );
});

test('docs/devices.md: its descriptions have no mistakes', (t) => {
  const blocks = blocksOf(readReadme('docs/devices.md')).filter(({ text }) => /^\/\/ \S+\.device\.json5\n/.test(text));
  t.is(blocks.length, 5);
  for (const { text } of blocks)
    t.deepEqual(compileDescription('it', text, { variables: {}, secrets: {} }).mistakes, [], text);
});

test('a description is one of the files of its connection: another text makes another connection', async (t) => {
  const text = (id: string) =>
    `{ about: 'It', frame: { end: '!' }, parameters: { ${id}: { type: 'I', on: '{value:int}' } } }`;
  const it = { type: 'device', tcp: '127.0.0.1:9', protocol: './it.device.json5' };
  const hub = await startHubFrom(t, { 'flow.json5': { connections: { it } }, 'it.device.json5': text('old') });
  t.truthy(hub.find('it/old'));
  await writeFile(join(hub.folder, 'it.device.json5'), text('fresh'));
  await hub.reload();
  t.truthy(hub.find('it/fresh'));
  t.is(hub.find('it/old'), undefined);
  await writeFile(join(hub.folder, 'it.device.json5'), text('{'));
  await t.throwsAsync(hub.reload(), { code: 'bad-flow', message: /it\.device\.json5:1:\d+: / });
  t.truthy(hub.find('it/fresh'), 'the previous one remains');
});
