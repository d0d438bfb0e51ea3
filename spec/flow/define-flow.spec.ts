// Flow files in TypeScript: loaded, checked, run, and checked by the compiler against the addresses of an installation.

import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { VirtualTimeScheduler } from 'rxjs';
import { declareInstallation } from '../../lib/command/types-command.ts';
import { loadFlows, startHub } from '../../lib/hub/index.ts';
import type { Origin } from '../../lib/model/parameter.ts';
import { createLogRecorder } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';

const root = resolve(import.meta.dirname, '../..');
const client: Origin = { kind: 'client', name: 'test' };
const parameters = ['mic,B', 'lamp,B', 'level,F', 'name', 'go,T', 'out,F', 'volume,F', 'quiet,F', 'shown'];
const desk = { type: 'dummy', parameters };
const clock = { type: 'timer', timers: [1000] };
const installation = `desk: ${JSON.stringify(desk)}, clock: ${JSON.stringify(clock)}`;

const program = (rules: string, connections = installation) => `
  import { defineFlow } from ${JSON.stringify(join(root, 'lib/index.ts'))};
  import { debounceTime, filter, map, mergeMap, of, pairwise, throwError } from 'rxjs';
  export default defineFlow({ connections: { ${connections} }, rules: (on) => [${rules}] });
`;

async function createProgram(t: ExecutionContext, text: string, files: object = {}): Promise<string> {
  const folder = await createFolder(t, { 'flow.ts': text, 'package.json': { type: 'module' }, ...files });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

test('RxJS streams run as rules; a rule whose stream fails is logged with name and file and restarted; its neighbours never notice', async (t) => {
  const scheduler = new VirtualTimeScheduler();
  const log = createLogRecorder();
  const text = program(`
    { from: on.flag('desk/mic').pipe(filter((open) => !open), map(() => 30_000)), to: 'clock/timer/1/start' },
    { from: on.float('desk/level').pipe(pairwise(), map(([a, b]) => b - a)), to: ['desk/out', 'desk/name'] },
    { from: on.all({ mic: 'desk/mic', level: 'desk/level' }).pipe(map(({ mic, level }) => mic && level > 0.5)), to: 'desk/lamp' },
    { name: 'shaky', from: on.float('desk/volume').pipe(mergeMap((v) => v > 1 ? throwError(() => new Error('too loud')) : of(v))), to: 'desk/quiet' },
    { name: 'neighbour', from: on.float('desk/volume').pipe(map(String)), to: 'desk/shown' },
  `);
  const hub = await startHub({ paths: [await createProgram(t, text)], log, scheduler });
  t.teardown(() => hub.stop());
  hub.write('desk/mic', true, client);
  hub.write('desk/level', 0.25, client);
  hub.write('desk/level', 0.75, client);
  t.is(hub.find('desk/lamp')?.value, true);
  t.is(hub.find('desk/out')?.value, 0.5);
  t.is(hub.find('desk/name')?.value, '0.5');
  t.is(hub.find('clock/timer/1/start')?.value, undefined);
  hub.write('desk/mic', false, client);
  t.is(hub.find('clock/timer/1/start')?.value, 30_000);

  hub.write('desk/volume', 2, client);
  t.is(hub.find('desk/shown')?.value, '2');
  t.regex(
    log.lines.find(({ level }) => level === 'warn')!.message,
    /^rule "shaky" \(.*flow\.ts\) failed: too loud \(.*flow\.ts:\d+:\d+\)$/,
  );
  hub.write('desk/volume', 0.5, client);
  t.is(hub.find('desk/quiet')?.value, undefined);
  scheduler.maxFrames = 1000;
  scheduler.flush();
  hub.write('desk/volume', 0.75, client);
  t.is(hub.find('desk/quiet')?.value, 0.75);
});

/** Further connections, beside the desk and the clock of another file. */
const beside = (rules: string, connections = '') => program(rules, connections);

const mistakes: [title: string, text: string, expected: RegExp][] = [
  ['an unknown address', beside("{ from: on.flag('desk/mik'), to: 'desk/lamp' }"), /:4:\d+: rules: unknown parameter "desk\/mik", did you mean "desk\/mic"\?/],
  ['another type', beside("{ from: on.flag('desk/level'), to: 'desk/lamp' }"), /:4:\d+: rules: desk\/level is a float \(F\): use on\.float\("desk\/level"\)/],
  ['a read-only destination', beside("{ from: on.trigger('desk/go'), to: 'clock/timer/1/trigger' }"), /: rules\[0\]\.to: expected a writable parameter/],
  ['a rule that is none', beside('{ from: 3, to: "desk/lamp" }'), /: rules\[0\]\.from: expected a stream, .* got 3 \(number\)/],
  ['a setting that is wrong', beside('', "x: { type: 'tmier' }"), /: connections\.x\.type: unknown connection type "tmier", did you mean "timer"\?/],
  ['rules that throw', beside("null.x"), /:4:\d+: rules: failed: Cannot read properties of null/],
  ['bad syntax', 'export default {', /:\d+:\d+: cannot be loaded: /],
  ['no default export', 'export const x = 1;', /:1:1: expected export default defineFlow\(\{ … \}\), got nothing/],
]; // biome-ignore format: rows

test('each error is reported at its place, together with all others', async (t) => {
  const files = mistakes.map(([, text], index) => [`flows/${index}.ts`, text]);
  const folder = await createProgram(t, '', {
    'flows/desk.json5': { connections: { desk, clock } },
    ...Object.fromEntries(files),
  });
  const { message } = (await t.throwsAsync(loadFlows([join(folder, 'flows')])))!;
  for (const [index, [title, , expected]] of mistakes.entries()) {
    const own = message.split('\n').filter((line) => line.startsWith(join(folder, `flows/${index}.ts`)));
    t.is(own.length, 1, `${title}: ${own}`);
    t.regex(own[0]!, expected, title);
  }
});

test('the compiler finds a misspelt address, a wrong value type, a write to a read-only parameter and a wrong setting, and nothing else', async (t) => {
  const right = program(`
      { from: on.flag('desk/mic'), to: 'desk/lamp' },
      { from: on.float('desk/level'), to: ['desk/out', 'clock/timer/1/start'] },
      { from: on.all({ mic: 'desk/mic', level: 'desk/level' }).pipe(map(({ mic, level }) => mic && level > 0.5)), to: 'desk/lamp' },
      { from: on.trigger('clock/timer/1/trigger'), to: 'desk/go' },
    `);
  const folder = await createProgram(t, right, { 'installation.json5': { connections: { desk, clock } } });
  const module = join(root, 'lib/index.ts');
  await writeFile(
    join(folder, 'patchbay.d.ts'),
    declareInstallation(await loadFlows([join(folder, 'installation.json5')]), module),
  );
  const options = [
    '--noEmit',
    '--singleThreaded',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--types',
    'node',
    '--skipLibCheck',
    '--allowImportingTsExtensions',
  ];
  const wrong: [text: string, mistake: RegExp][] = [
    [program("{ from: on.flag('desk/mik'), to: 'desk/lamp' }"), /^wrong-0\.ts\(4,\d+\): error TS2345: .*"desk\/mik"/],
    [program("{ from: on.flag('desk/mic'), to: 'desk/name' }"), /^wrong-1\.ts\(4,\d+\): error/],
    [program("{ from: on.trigger('desk/go'), to: 'clock/timer/1/trigger' }"), /^wrong-2\.ts\(4,\d+\): error/],
    [program('', "x: { type: 'timer', timers: [true] }"), /^wrong-3\.ts\(4,\d+\): error TS2322: .*boolean.*number/s],
    [program('', "x: { type: 'tmier' }"), /^wrong-4\.ts\(4,\d+\): error/],
    [
      program('', "x: { type: 'timer', timer: [1] }"),
      /^wrong-5\.ts\(4,\d+\): error .*Did you mean to write 'timers'\?/,
    ],
  ];
  for (const [index, [text]] of wrong.entries()) await writeFile(join(folder, `wrong-${index}.ts`), text);
  const files = ['flow.ts', 'patchbay.d.ts', ...wrong.map((_, index) => `wrong-${index}.ts`)];
  const compiler = promisify(execFile)(join(root, 'node_modules/.bin/tsc'), [...options, ...files], { cwd: folder });
  const { stdout } = await t.throwsAsync<Error & { stdout: string }>(compiler);
  const mistakes = stdout.split(/^(?=\S)/m);
  t.is(mistakes.length, wrong.length, stdout);
  for (const [index, [, mistake]] of wrong.entries()) t.regex(mistakes[index]!, mistake);
});

test('a flow far from all packages imports the hub that runs it, and its RxJS, by the clock of the hub', async (t) => {
  const folder = await createFolder(t, {
    'flow.ts': `
      import { filter } from 'rxjs';
      import { debounceTime } from 'rxjs/operators';
      import { defineFlow } from 'patchbay-hub';
      export default defineFlow({
        connections: { ${installation} },
        rules: (on) => [{ from: on.flag('desk/mic').pipe(filter((open) => open), debounceTime(1000)), to: 'desk/lamp' }],
      });
    `,
  });
  const scheduler = new VirtualTimeScheduler();
  const hub = await startHub({ paths: [folder], log: createLogRecorder(), scheduler });
  t.teardown(() => hub.stop());
  hub.write('desk/mic', true, client);
  t.is(hub.find('desk/lamp')?.value, undefined);
  scheduler.flush();
  t.is(hub.find('desk/lamp')?.value, true);

  const other = await createFolder(t, { 'flow.ts': "import 'fastest-levenshtein';\nexport default {};\n" });
  const { message } = (await t.throwsAsync(startHub({ paths: [other], log: createLogRecorder() })))!;
  t.regex(message, /flow\.ts:1:8: cannot be loaded: no package "fastest-levenshtein" is installed here$/);
});
