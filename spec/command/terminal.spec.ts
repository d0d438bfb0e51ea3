// What clients have written, on the terminal of an operator: no command gives it anything that it obeys. A pipe gets values as they are.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import json5 from 'json5';
import { within } from '../support/deadline.ts';
import { createFolder } from '../support/folder.ts';
import { api, startHubFrom, writer } from '../support/hub.ts';
import { needs } from '../support/programs.ts';
import { sampled } from '../support/random.ts';
import { dependent } from '../support/system/dependent.ts';

needs('script');

const main = resolve(import.meta.dirname, '../../lib/main.ts');
const hostile = 'x\u001b[2J\u009b31m\u202eevil\u2066\r\u0007\u001b]0;title\u0007';
/** Everything that a terminal obeys, but for line breaks: a pseudo-terminal puts a carriage return before each. */
const obeyed = /(?!\r?\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u;

/** What a command writes, on a terminal or into a pipe. */
async function outputOf(args: readonly string[], onTerminal: boolean): Promise<string> {
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', main, ...args];
  const quoted = command.map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(' ');
  const [program, ...rest] = onTerminal ? ['script', '-qec', quoted, '/dev/null'] : command;
  const child = spawn(...dependent(program!, rest), { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  await within(new Promise((resolve) => child.once('close', resolve)), args.join(' '));
  return output;
}

async function start(t: ExecutionContext) {
  const hub = await startHubFrom(t, {
    'flow.json5': {
      connections: {
        api,
        desk: { type: 'dummy', parameters: ['text,S', 'copy,S', 'n,I'] },
        store: { type: 'store', folder: 'data' },
      },
      rules: [
        { name: `copy ${hostile}`, from: 'desk/text', map: 'value + ""', to: 'desk/copy' },
        { name: 'fails', from: 'desk/text', map: 'int(value)', to: 'desk/n' },
      ],
      tests: [
        { name: `test ${hostile}`, steps: [{ set: { 'desk/text': hostile }, expect: { 'desk/copy': 'other' } }] },
      ],
    },
  });
  hub.write('desk/text', hostile, { ...writer, name: `client ${hostile}` });
  return { url: `http://127.0.0.1:${hub.port}`, folder: hub.folder };
}

test('no command passes text of clients to a terminal unchanged', async (t) => {
  const { url, folder } = await start(t);
  const broken = await createFolder(t, {
    [`a${hostile.replaceAll(/[\r/]/g, '')}.json5`]: `{ connections: { "${'x\u009b31m\u202e'}": 1 }, tokens: \u009b31m }`,
  });
  const at = ['--url', url];
  const commands: readonly (readonly string[])[] = [
    ['get', 'desk/text', ...at],
    ['get', 'desk/text', '--json', ...at],
    ['set', 'desk/copy', hostile, ...at],
    ['explain', 'desk/copy', ...at],
    ['trace', `copy ${hostile}`, ...at],
    ['trace', 'fails', ...at],
    ['history', 'desk/text', ...at],
    ['history', 'desk/text', '--json', ...at],
    ['history', 'desk/text', '--csv', ...at],
    ['events', 'desk/copy', ...at],
    ['events', 'desk/copy', '--json', ...at],
    ['audit', ...at],
    ['audit', '--json', ...at],
    ['get', `desk/${hostile}`, ...at],
    ['get', 'desk/text', '--url', `http://${hostile}`],
    ['check', broken],
    ['check', join(broken, hostile)],
    ['test', folder],
    [hostile],
    ['get', `--${hostile}`],
  ];
  const isPiped = sampled(t, 3);
  for (const [index, command] of commands.entries()) {
    const shown = await outputOf(command, true);
    t.true(shown.length > 0, command.join(' '));
    t.notRegex(shown, obeyed, `${command[0]}: ${JSON.stringify(shown)}`);
    const isForPeople = !['get', 'set'].includes(command[0]!) && !/--(json|csv)/.test(command.join());
    if (isForPeople && isPiped(index)) t.notRegex(await outputOf(command, false), obeyed, `${command[0]} into a pipe`);
  }
  t.is(await outputOf(['get', 'desk/text', ...at], false), `${hostile}\n`);
  t.is(JSON.parse(await outputOf(['get', 'desk/text', '--json', ...at], false)), hostile);
});

/** Types lines into a command on a terminal, each once it is asked for. */
async function typed(
  folder: string,
  args: readonly string[],
  answers: readonly (readonly [asked: string, answer: string])[],
) {
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', main, ...args].join(' ');
  const child = spawn(...dependent('script', ['-qec', command, '/dev/null']), {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = [...answers];
  let [output, seen] = ['', 0];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    const [asked, answer] = waiting[0] ?? [];
    const at = asked === undefined ? -1 : output.indexOf(asked, seen);
    if (at < 0) return;
    seen = at + asked!.length;
    waiting.shift();
    child.stdin.write(answer!);
  });
  const status = await within(new Promise((resolve) => child.once('close', resolve)), args.join(' '));
  return { status, output };
}

test('on a terminal, `init` asks for each variable of a recipe, explains wrong answers, and creates nothing without an answer', async (t) => {
  const folder = await createFolder(t);
  const { status, output } = await typed(
    folder,
    ['init', '--recipe', 'tally/two-microphones'],
    [
      ['[desk/mic1]: ', 'mic\r'],
      ['[desk/mic1]: ', 'desk/mic/1/on\r'],
      ['[desk/mic2]: ', '\r'],
      ['[studio/red-light]: ', 'hall/light\r'],
    ],
  );
  t.is(status, 0, output);
  t.regex(output, /mic1, the first microphone is open \[desk\/mic1\]: /);
  t.regex(output, /\nmic1: expected <Connection ID>\/<Parameter ID>, got "mic"/);
  const { variables } = json5.parse(readFileSync(join(folder, 'flows/two-microphones.json5'), 'utf8'));
  t.deepEqual(variables, { mic1: 'desk/mic/1/on', mic2: 'desk/mic2', light: 'hall/light' });
  const ended = await typed(
    folder,
    ['init', 'other', '--recipe', 'tally/two-microphones'],
    [['[desk/mic1]: ', '\u0004']],
  );
  t.is(ended.status, 1, ended.output);
  t.regex(ended.output, /expected an answer, got none; nothing was created/);
  t.false(existsSync(join(folder, 'other')));
});
