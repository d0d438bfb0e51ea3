// Streams in TypeScript within their rule: causes over time, sources that end with the rule, and a limit on subscriptions.

import { cp, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { maxSubscriptions } from '../../../../lib/flow/run/rules/streams/run-stream.ts';
import { startHub } from '../../../../lib/hub/index.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { writer } from '../../../support/hub.ts';

const root = resolve(import.meta.dirname, '../../../..');

async function start(t: ExecutionContext, destinations: readonly string[], rules: string) {
  const desk = { type: 'dummy', parameters: ['a,I', 'side,I', ...destinations.map((id) => `${id},I`)] };
  const folder = await createFolder(t, {
    'package.json': { type: 'module' },
    'flow.ts': `
      import { defineFlow } from ${JSON.stringify(join(root, 'lib/index.ts'))};
      import { audit, auditTime, concatMap, debounceTime, delay, exhaustMap, filter, map, mergeMap, of, range, sampleTime, switchMap, take, tap, throttleTime, timer } from 'rxjs';
      export default defineFlow({ connections: { desk: ${JSON.stringify(desk)} }, rules: (on) => [${rules}] });
    `,
  });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const log = createLogRecorder();
  const hub = await startHub({ paths: [folder], log });
  t.teardown(() => hub.stop());
  return { hub, log };
}

test('a value that a stream emits later has the change that it comes from as its cause', async (t) => {
  const pipes = {
    now: '',
    delay: 'filter((v) => v < 3), delay(40)',
    debounce: 'debounceTime(40)',
    again: 'debounceTime(20), delay(20)',
    timer: 'mergeMap((v) => timer(20).pipe(map(() => v)))',
    other: "switchMap((v) => on.integer('desk/side').pipe(map((s) => 10 * v + s)))",
    sample: 'sampleTime(20)',
    audit: 'auditTime(40)',
    audited: 'audit(() => timer(40))',
    throttle: 'throttleTime(40, undefined, { leading: false, trailing: true })',
    concat: 'concatMap((v) => of(v).pipe(delay(10)))',
    exhaust: 'exhaustMap(async (v) => { await null; return v; })',
    promises: 'mergeMap(async (v) => { await null; return v; })',
    promise: 'filter((v) => v === 3), concatMap(async (v) => { await null; return v; })',
  };
  const rules = Object.entries(pipes).map(
    ([id, pipe]) => `{ name: '${id}', from: on.integer('desk/a').pipe(${pipe}), to: 'desk/${id}' }`,
  );
  const { hub } = await start(t, Object.keys(pipes), rules.join());
  const causes: string[] = [];
  hub.changes$.subscribe(({ parameter, value, cause }) => {
    if (cause !== undefined)
      causes.push(`${parameter.address} = ${value} by ${cause.parameter.address} = ${cause.value}`);
  });
  for (const value of [1, 2, 3]) hub.write('desk/a', value, writer);
  hub.write('desk/side', 5, writer);
  await eventually(() =>
    Object.keys(pipes).every(
      (id) => id === 'other' || hub.find(`desk/${id}`)?.value === ({ delay: 2, exhaust: 1 }[id] ?? 3),
    ),
  );
  const later = causes.filter((line) => !line.startsWith('desk/now')).sort();
  t.deepEqual(later, [
    'desk/again = 3 by desk/a = 3',
    'desk/audit = 3 by desk/a = 3',
    'desk/audited = 3 by desk/a = 3',
    'desk/concat = 1 by desk/a = 1',
    'desk/concat = 2 by desk/a = 2',
    'desk/concat = 3 by desk/a = 3',
    'desk/debounce = 3 by desk/a = 3',
    'desk/delay = 1 by desk/a = 1',
    'desk/delay = 2 by desk/a = 2',
    'desk/exhaust = 1 by desk/a = 1',
    'desk/other = 35 by desk/side = 5',
    'desk/promise = 3 by desk/a = 3',
    'desk/promises = 1 by desk/a = 1',
    'desk/promises = 2 by desk/a = 2',
    'desk/promises = 3 by desk/a = 3',
    'desk/sample = 3 by desk/a = 3',
    'desk/throttle = 3 by desk/a = 3',
    'desk/timer = 1 by desk/a = 1',
    'desk/timer = 2 by desk/a = 2',
    'desk/timer = 3 by desk/a = 3',
  ]);
});

test('a folder with its own copy of RxJS, and imports of rxjs/operators, get the operators of the hub', async (t) => {
  const desk = { type: 'dummy', parameters: ['a,I', 'b,I', 'c,I'] };
  const folder = await createFolder(t, {
    'package.json': { type: 'module' },
    'flow.ts': `
      import { defineFlow } from ${JSON.stringify(join(root, 'lib/index.ts'))};
      import { debounceTime } from 'rxjs/operators';
      import { switchMap, timer, map } from 'rxjs';
      export default defineFlow({ connections: { desk: ${JSON.stringify(desk)} }, rules: (on) => [
        { name: 'b', from: on.integer('desk/a').pipe(debounceTime(20)), to: 'desk/b' },
        { name: 'c', from: on.integer('desk/a').pipe(switchMap((v) => timer(20).pipe(map(() => v)))), to: 'desk/c' },
      ] });
    `,
  });
  const own = join(folder, 'node_modules', 'rxjs');
  for (const part of ['package.json', 'dist/cjs'])
    await cp(join(root, 'node_modules', 'rxjs', part), join(own, part), { recursive: true });
  const hub = await startHub({ paths: [folder], log: createLogRecorder() });
  t.teardown(() => hub.stop());
  for (const value of [1, 2]) hub.write('desk/a', value, writer);
  hub.write('desk/a', 3, { kind: 'client', name: 'last' });
  await eventually(() => hub.find('desk/b')?.value === 3 && hub.find('desk/c')?.value === 3);
  for (const address of ['desk/b', 'desk/c']) t.is(hub.find(address)!.lastChange!.cause!.origin.name, 'last');
});

test('operators that keep causes complete like those of RxJS', async (t) => {
  const ends = {
    inner: 'concatMap(() => range(1, Infinity)), take(3)',
    outer: 'mergeMap((v) => range(v, Infinity).pipe(throttleTime(1000))), take(1)',
    latest: 'switchMap((v) => timer(0, 5).pipe(map(() => v))), take(2)',
    wrong: "mergeMap((v) => { throw new Error('wrong ' + v); })",
  };
  const rules = Object.entries(ends).map(
    ([id, pipe]) => `{ name: '${id}', from: on.integer('desk/a').pipe(${pipe}), to: 'desk/${id}' }`,
  );
  const { hub, log } = await start(t, Object.keys(ends), rules.join());
  for (const value of [7, 8]) hub.write('desk/a', value, writer);
  t.is(hub.find('desk/inner')?.value, 3);
  t.is(hub.find('desk/outer')?.value, 7);
  await eventually(() => hub.find('desk/latest')?.value === 8);
  t.regex(await log.logged(/wrong/), /^rule "wrong" \(.*flow\.ts\) failed: wrong 7 \(\S*flow\.ts:4:\d+\)$/);
});

test('an emission that is not a value is refused and shown, and the hub continues', async (t) => {
  const emitted: Record<string, [text: string, shown: string]> = {
    bigint: ['BigInt(v)', '7 (bigint)'],
    symbol: ["Symbol('lamp')", 'Symbol(lamp) (symbol)'],
    throws: ["{ get lamp() { throw new Error('look'); } }", 'a value that cannot be shown (object)'],
    circle: ['[globalThis]', '['],
    deep: ["JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))", `${'['.repeat(57)}… (array)`],
  };
  const rules = Object.entries(emitted).map(
    ([id, [text]]) => `{ name: '${id}', from: on.integer('desk/a').pipe(map((v) => (${text}))), to: 'desk/${id}' }`,
  );
  const { hub, log } = await start(t, Object.keys(emitted), rules.join());
  hub.write('desk/a', 7, writer);
  for (const [id, [, shown]] of Object.entries(emitted)) {
    const said = await log.logged(new RegExp(`^rule "${id}"`));
    t.true(said.includes(`failed: desk/${id}: expected a number, got ${shown}`), said);
    t.like(hub.runsOf(id)[0]!.runs[0], { outcome: 'wrote', to: [] });
  }
  t.is(hub.find('desk/a')?.value, 7);
});

test('a stream that leaks subscriptions is limited, and its subscriptions end with its rule; those of its neighbours continue', async (t) => {
  const { hub, log } = await start(
    t,
    ['b', 'c'],
    `{ name: 'leaks', from: on.integer('desk/a').pipe(tap(() => { on.integer('desk/side').subscribe((v) => { globalThis.heard = (globalThis.heard ?? 0) + 1; }); })), to: 'desk/b' },
     { name: 'neighbour', from: on.integer('desk/a').pipe(switchMap((v) => on.integer('desk/side'))), to: 'desk/c' }`,
  );
  const heard = () => (globalThis as { heard?: number }).heard ?? 0;
  for (let value = 1; value <= maxSubscriptions; value++) hub.write('desk/a', value, writer);
  const reason = 'its streams may have 1,000 subscriptions at most; the next one was refused';
  t.regex(
    await log.logged(/subscriptions/),
    new RegExp(`^rule "leaks" \\(.*flow\\.ts\\) is limited: ${reason} \\(\\S*flow\\.ts:4:\\d+\\)$`),
  );
  t.like(hub.rules()[0], { state: 'limited', dropped: 1 });
  t.is(hub.find('desk/b')?.value, maxSubscriptions);
  hub.write('desk/side', 1, writer);
  t.is(heard(), maxSubscriptions - 1);
  hub.switchRule('leaks', undefined, false, writer);
  hub.write('desk/side', 2, writer);
  t.is(heard(), maxSubscriptions - 1);
  t.is(hub.find('desk/c')?.value, 2);
});
