// What flows in TypeScript may do wrong: nothing of it takes the hub down, disturbs other rules or stops a later reload.

import { existsSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { api } from '../support/hub.ts';
import { startHubProcess } from '../support/hub-process.ts';
import { start } from '../support/process.ts';
import { openClient } from '../support/socket.ts';

/** What is added to desk/x, which stays below it, tells which flow runs. */
const step = 1_000_000;
const root = resolve(import.meta.dirname, '../..');

const desk = {
  connections: { api, desk: { type: 'dummy', parameters: ['in,I', 'out,I', 'x,I', 'y,I', 'many,I'] } },
  rules: [{ name: 'neighbour', from: 'desk/in', to: 'desk/out' }],
};

interface Parts {
  /** What stands at the top level of the file. */
  readonly top?: string;
  /** What `rules(on)` does first. */
  readonly rules?: string;
  /** What the stream goes through. */
  readonly pipe?: string;
  /** desk/y is desk/x and this much, a multiple of `step`. */
  readonly plus?: number;
}

/** A flow whose lines 4, 6 and 7 are the parts. */
const flow = ({
  top = '',
  rules = '',
  pipe = 'map((v) => v)',
  plus = 0,
}: Parts) => `import { connect } from 'node:net'; import { writeFileSync } from 'node:fs';
import { concatMap, map, range, tap } from 'rxjs';
import { defineFlow } from ${JSON.stringify(join(root, 'lib/index.ts'))};
${top}
const wrong = (text = 'wrong') => { throw new Error(text); };
export default defineFlow({ rules: (on) => { ${rules}
  return [{ name: 'sum', from: on.integer('desk/x').pipe(${pipe}, map((v) => v + ${plus})), to: 'desk/y' }];
} });
`;

/** Found before the hub imports the file; the flow as it was goes on. */
const refused: [what: string, parts: Parts, log: RegExp][] = [
  [
    'throws at import',
    { top: "wrongAgain();\nfunction wrongAgain() { throw new Error('no'); }" },
    /^flow\.ts:5:\d+: cannot be loaded: no$/,
  ],
  ['throws null at import', { top: 'throw null;' }, /^flow\.ts: cannot be loaded: null was thrown, which is no error$/],
  [
    'rejects with undefined at import',
    { top: 'Promise.reject(undefined);' },
    /^flow\.ts: .*: a promise was rejected with undefined, which is no error$/,
  ],
  [
    'throws in a timer at once',
    { top: 'setTimeout(() => wrong());' },
    /^flow\.ts:5:\d+: failed as soon as it was loaded: wrong$/,
  ],
  [
    'ends the process at import',
    { top: 'process.exit(3);' },
    /^flow\.ts:4:\d+: cannot be loaded: process\.exit\(3\): a flow cannot end the hub$/,
  ],
  [
    'aborts the process at import',
    { top: 'process.abort();' },
    /^flow\.ts:4:\d+: cannot be loaded: process\.abort\(\): a flow cannot end the hub$/,
  ],
  [
    'kills the process at import',
    { top: "process.kill(process.pid, 'SIGKILL');" },
    /^flow\.ts:4:\d+: cannot be loaded: process\.kill\(\d+, SIGKILL\): /,
  ],
  [
    'waits for ever at import',
    { top: 'await new Promise(() => {});' },
    /^flow\.ts: cannot be loaded: expected a file that is read within 2 s, it still waits/,
  ],
  [
    'loops at import',
    { top: 'for (;;);' },
    /^flow\.ts:4:\d+: cannot be loaded: expected a file that is read within 2 s, it still runs/,
  ],
  [
    'loops in rules(on)',
    { rules: 'for (;;);' },
    /^flow\.ts:6:\d+: cannot be loaded: expected a file that is read within 2 s, it still runs/,
  ],
  ['throws in rules(on)', { rules: 'wrong();' }, /^flow\.ts:5:\d+: rules: failed: wrong$/],
  [
    'rejects in rules(on)',
    { rules: "(async () => wrong('late'))();" },
    /^flow\.ts:5:\d+: failed as soon as it was loaded: late$/,
  ],
  [
    'imports a file that throws',
    { top: "import './_bad.ts';" },
    /^flow\.ts: cannot be loaded: bad \(_bad\.ts:2:\d+\)$/,
  ],
  ['has a mistake in its syntax', { top: 'const x = = 1;' }, /^flow\.ts:4:\d+: cannot be loaded: /],
  [
    'changes what all code shares',
    { top: 'JSON.parse = null;' },
    /^flow\.ts: .*: changes JSON\.parse, which the hub needs as it is$/,
  ],
];

/** Found while it runs; it goes on as well as it can. */
const reported: [what: string, parts: Parts, log: RegExp][] = [
  [
    'throws in a timer',
    { pipe: "tap(() => setTimeout(() => wrong('timer'), 10))" },
    /^flow flow\.ts failed: timer \(flow\.ts:5:\d+\)$/,
  ],
  ['rejects', { pipe: "tap(async () => wrong('async'))" }, /^flow flow\.ts failed: async \(flow\.ts:5:\d+\)$/],
  [
    'throws null in a timer',
    { pipe: 'tap(() => setTimeout(() => { throw null; }))' },
    /^flow flow\.ts failed: null was thrown/,
  ],
  [
    'rejects with undefined',
    { pipe: 'tap(() => void Promise.reject())' },
    /^flow flow\.ts failed: a promise was rejected with undefined/,
  ],
  [
    'is refused by a server',
    { pipe: "tap(() => connect(1, '127.0.0.1'))" },
    /^flow flow\.ts failed: connect ECONNREFUSED/,
  ],
  [
    'throws in the stream',
    { pipe: "tap(() => wrong('stream'))" },
    /^rule "sum" \(flow\.ts\) failed: stream \(flow\.ts:5:\d+\)$/,
  ],
  [
    'throws null in the stream',
    { pipe: 'tap(() => { throw null; })' },
    /^rule "sum" \(flow\.ts\) failed: null was thrown/,
  ],
  [
    'throws what cannot be shown',
    { pipe: 'tap(() => { throw Object.create(null); })' },
    /^rule "sum" \(flow\.ts\) failed: something was thrown/,
  ],
  [
    'ends the process in the stream',
    { pipe: 'tap(() => process.exit())' },
    /^rule "sum" \(flow\.ts\) failed: process\.exit\(\): .*\(flow\.ts:7:\d+\)$/,
  ],
  [
    'ends the process in a timer',
    { pipe: 'tap(() => setTimeout(process.exit, 10))' },
    /^flow flow\.ts failed: process\.exit\(\): a flow cannot/,
  ],
  [
    'aborts the process in a timer',
    { pipe: 'tap(() => setTimeout(() => process.abort()))' },
    /^flow flow\.ts failed: process\.abort\(\): .*\(flow\.ts:7:\d+\)$/,
  ],
  [
    'leaks a subscriber that throws',
    { pipe: "tap(() => range(1).subscribe(() => wrong('leak')))" },
    /^flow flow\.ts failed: leak \(flow\.ts:5:\d+\)$/,
  ],
  [
    'emits far too much at once',
    { pipe: 'concatMap((v) => (v % 200 === 0 ? range(v, 200_000) : [v]))' },
    /^rule "sum" .*131,072/,
  ],
];

/** A hub with a neighbour in JSON5 and the flow in TypeScript; `said` looks at what was logged since the last save. */
async function startHub(t: ExecutionContext) {
  const hub = await startHubProcess(t, desk);
  await symlink(join(root, 'node_modules'), join(hub.folder, 'node_modules'));
  await writeFile(join(hub.folder, '_bad.ts'), "// bad\nthrow new Error('bad');");
  await writeFile(join(hub.folder, 'package.json'), '{ "type": "module" }');
  const client = await openClient(t, hub.port);
  const values = new Map<string, number>();
  const heard: number[] = [];
  let [sent, lastAt, longestGapMs] = [0, performance.now(), 0];
  const own = monitorEventLoopDelay();
  own.enable();
  const send = () => client.send({ p: 'desk/in', v: ++sent });
  client.frames.listen(({ p = '', v }) => {
    values.set(p, Number(v));
    if (p !== 'desk/out') return;
    heard.push(Number(v));
    longestGapMs = Math.max(longestGapMs, performance.now() - lastAt);
    lastAt = performance.now();
    globalThis.setTimeout(send, 5);
  });
  send();
  let from = 0;
  const said = (pattern: RegExp) =>
    hub.finds(
      (output) =>
        messagesOf(output.slice(from), hub.folder).find((line) =>
          pattern.test(line.replace(/ \(\d+ times within a second\)$/, '')),
        ),
      `${pattern}`,
    );
  return {
    hub,
    said,
    /** How the neighbour did; `ownGapMs` is how long this process did nothing, being as busy. */
    neighbour: () => ({ sent, heard, longestGapMs, ownGapMs: own.max / 1e6 }),
    async save(parts: Parts, isNews = true) {
      if (isNews) from = await hub.finds((output) => output.length, 'output');
      await writeFile(join(hub.folder, 'flow.ts'), flow(parts));
    },
    /** Sets desk/x until something has happened. */
    async setUntil(happened: Promise<unknown>) {
      let isOver = false;
      const over = happened.finally(() => {
        isOver = true;
      });
      for (let x = -1; !isOver; x--) {
        if (client.isOpen) client.send({ p: 'desk/x', v: x });
        await setTimeout(10);
      }
      await over;
    },
    /** Sets desk/x until desk/y says that the flow adds so much; returns how long that took. */
    async adds(plus: number, after = 'all well') {
      const start = performance.now();
      const isAdded = () => Math.floor((values.get('desk/y') ?? 0) / step) * step === plus;
      for (let x = 1; !isAdded(); x++) {
        t.true(performance.now() - start < 25_000, `the saved flow runs after ${after}`);
        client.send({ p: 'desk/x', v: x });
        await setTimeout(10);
      }
      return performance.now() - start;
    },
  };
}

function messagesOf(output: string, folder: string): string[] {
  return output
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { msg: string }).msg.replaceAll(`${folder}/`, ''));
}

test('a flow that misbehaves is named with file and line, disturbs nobody, and the next good save takes effect', async (t) => {
  const { hub, said, save, adds, setUntil, neighbour } = await startHub(t);
  const times: number[] = [];
  let plus = step;
  await save({ plus });
  await adds(plus);
  for (const [what, parts, log] of refused) {
    await save(parts);
    await t.notThrowsAsync(said(log), what);
    await said(/^not reloaded/);
    await adds(plus); // the flow as it was runs on
    plus += step;
    await save({ plus });
    times.push(await adds(plus, what));
  }
  for (const [what, parts, log] of reported) {
    await save(parts);
    await t.notThrowsAsync(setUntil(said(log)), what);
    const [rule] = (JSON.parse(await hub.get('hub/rules')) as { name: string; state: string }[]).filter(
      ({ name }) => name === 'sum',
    );
    t.true(['failing', 'limited'].includes(rule!.state), what);
    plus += step;
    await save({ plus });
    times.push(await adds(plus, what));
  }
  const { sent, heard, longestGapMs, ownGapMs } = neighbour();
  t.true(sent - heard.length <= 1);
  t.true(heard.every((value, index) => value === index + 1));
  t.log(
    `good saves took effect within ${Math.round(Math.max(...times))} ms, longest gap of ${sent} changes ${Math.round(longestGapMs)} ms`,
  );
  t.true(longestGapMs < 1500 + 3 * ownGapMs);
  hub.process.kill('SIGTERM');
  t.is((await hub.ended()).status, 0);
});

test('a good save does not wait for one that hangs', async (t) => {
  const {
    save,
    adds,
    said,
    hub: { folder },
  } = await startHub(t);
  await save({ plus: step });
  await adds(step);
  await save({ top: "writeFileSync(new URL('begun', import.meta.url), ''); await new Promise(() => {});" });
  while (!existsSync(join(folder, 'begun'))) await setTimeout(10);
  await save({ plus: 2 * step }, false);
  t.log(`${Math.round(await adds(2 * step))} ms`);
  await t.notThrowsAsync(said(/newer save waits/));
});

test('a loop without end in a running stream ends the hub, and the next start leaves that flow out until it is changed', async (t) => {
  const { hub, save, adds, setUntil } = await startHub(t);
  await save({ plus: step });
  await adds(step);
  await save({ pipe: 'tap((x) => { for (let n = 0; x < 0; n++); })' });
  await setUntil(hub.ended());
  const { signal, output } = await hub.ended();
  t.is(signal, 'SIGKILL');
  t.regex(
    messagesOf(output, hub.folder).at(-1)!,
    /^flow flow\.ts has stopped the hub: it ran for 4 s .* at flow\.ts:7:\d+\./,
  );

  const next = start(t, ['run', hub.folder, '--log-format', 'json']);
  await next.shows(/flow \S+flow\.ts is left out, .*: it ran for 4 s without letting go, at \S+flow\.ts:7:/);
  await next.shows(/runs 2 connections, 1 rules/);
  await writeFile(join(hub.folder, 'flow.ts'), flow({ plus: 3000 }));
  await next.shows(/reloaded: rules: 1 added/);
});
