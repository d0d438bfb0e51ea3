// What flows in TypeScript may do wrong while they run: it is reported, the hub goes on as well as it can, and other rules are
// not disturbed.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { flow, messagesOf, type Parts, startMisbehaving, step } from '../../../support/misbehaving.ts';
import { start } from '../../../support/process.ts';

/** After so many that are reported, a good one is saved. */
const goodEvery = 4;
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

test('a flow that misbehaves while it runs is named with file and line, disturbs nobody, and the next good save takes effect', async (t) => {
  const { hub, said, save, adds, setUntil, expectNeighbourWell } = await startMisbehaving(t);
  let plus = step;
  for (const [index, [what, parts, log]] of reported.entries()) {
    await save(parts);
    await t.notThrowsAsync(setUntil(said(log)), what);
    const [rule] = (JSON.parse(await hub.get('hub/rules')) as { name: string; state: string }[]).filter(
      ({ name }) => name === 'sum',
    );
    t.true(['failing', 'limited'].includes(rule!.state), what);
    if (index % goodEvery < goodEvery - 1 && index < reported.length - 1) continue;
    await save({ plus });
    await adds(plus, `all up to the one that ${what}`);
    plus += step;
  }
  expectNeighbourWell();
  hub.process.kill('SIGTERM');
  t.is((await hub.ended()).status, 0);
});

test('a loop without end in a running stream ends the hub, and the next start leaves that flow out until it is changed', async (t) => {
  const { hub, save, adds, setUntil } = await startMisbehaving(t);
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
