// What flows in TypeScript may do wrong while they run: it is reported, the hub goes on as well as it can, and other rules are
// not disturbed.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { step } from '../../../../bench/misbehave/flow.ts';
import { whileRunning } from '../../../../bench/misbehave/while-running.ts';
import { flow, messagesOf, startMisbehaving } from '../../../support/flow/misbehaving.ts';
import { start } from '../../../support/system/process.ts';

/** After so many saves of what is reported, a good one is saved. */
const goodEvery = 3;
/**
 * Some of them, so that it does not take long; all of them are for `node bench/misbehave.ts`. A flow does at once what leaves its
 * stream as it is.
 */
const saves: readonly (readonly string[])[] = [
  ['throws-later', 'rejects-with-nothing', 'is-refused', 'exits-later', 'leaks-subscribers'],
  ['changes-what-all-share-later'],
  ['throws-hostile-in-the-stream'],
  ['recurses-in-the-stream'],
  ['exits-in-the-stream'],
  ['emits-far-too-much'],
];

test('a flow that misbehaves while it runs is named with file and line, disturbs nobody, and the next good save takes effect', async (t) => {
  const { hub, said, save, adds, setUntil, expectNeighbourWell } = await startMisbehaving(t);
  let plus = step;
  for (const [index, names] of saves.entries()) {
    const ways = names.map((name) => whileRunning[name]!);
    await save({ pipe: ways.map(({ flow }) => flow.pipe).join(', ') });
    await t.notThrowsAsync(setUntil(Promise.all(ways.map(({ told }) => said(told!)))), `${names}`);
    const [rule] = (JSON.parse(await hub.get('hub/rules')) as { name: string; state: string }[]).filter(
      ({ name }) => name === 'sum',
    );
    t.true(['failing', 'limited'].includes(rule!.state), `${names}`);
    if (index % goodEvery < goodEvery - 1) continue;
    await save({ plus });
    await adds(plus, `all up to the one that ${names}`);
    plus += step;
  }
  expectNeighbourWell();
  hub.process.kill('SIGTERM');
  t.is((await hub.ended()).status, 0);
});

test('a loop without end in a running stream ends the hub, and the next start leaves that flow out until it is changed', async (t) => {
  const { hub, save, setUntil } = await startMisbehaving(t);
  await save({ pipe: 'tap((x) => { for (let n = 0; x < 0; n++); })' });
  await setUntil(hub.ended());
  const { signal, output } = await hub.ended();
  t.is(signal, 'SIGKILL');
  t.regex(
    messagesOf(output, hub.folder).at(-1)!,
    /^flow flow\.ts has stopped the hub: it ran for 4 s .* at flow\.ts:10:\d+\./,
  );

  const next = start(t, ['run', hub.folder, '--log-format', 'json']);
  await next.shows(/flow \S+flow\.ts is left out, .*: it ran for 4 s without letting go, at \S+flow\.ts:10:/);
  await next.shows(/runs 2 connections, 1 rules/);
  await writeFile(join(hub.folder, 'flow.ts'), flow({ plus: 3000 }));
  await next.shows(/reloaded: rules: 1 added/);
});
