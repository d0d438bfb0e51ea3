// What flows in TypeScript may do wrong when they are loaded: nothing of it takes the hub down, disturbs other rules or stops a
// later reload. What they may do while they run is in misbehaving-rules.spec.ts.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { atImport } from '../../../bench/misbehave/at-import.ts';
import { step } from '../../../bench/misbehave/flow.ts';
import { eventually } from '../../support/deadline.ts';
import { startMisbehaving } from '../../support/flow/misbehaving.ts';

/** After so many that are refused, a good one is saved. */
const goodEvery = 8;
/** Some of them, so that it does not take long; all of them are for `node bench/misbehave.ts`. */
const names = [
  'throws',
  'throws-null',
  'throws-hostile',
  'rejects',
  'throws-in-a-timer',
  'exits',
  'kills',
  'waits-for-ever',
  'loops-in-rules',
  'throws-in-rules',
  'rejects-in-rules',
  'imports-a-bad-file',
  'bad-syntax',
  'changes-what-all-share',
  'changes-a-prototype',
];

test('a flow that misbehaves when it is loaded is named with file and line, disturbs nobody, and the next good save takes effect, which does not wait for one that hangs', async (t) => {
  const { hub, said, save, adds, expectNeighbourWell } = await startMisbehaving(t);
  let plus = step;
  await save({ plus });
  await adds(plus);
  for (const [index, what] of names.entries()) {
    const { flow, told } = atImport[what]!;
    await save(flow);
    await t.notThrowsAsync(said(told!), what);
    await said(/^not reloaded/);
    await adds(plus, what); // the flow as it was runs on
    if (index % goodEvery < goodEvery - 1 && index < names.length - 1) continue;
    plus += step;
    await save({ plus });
    await adds(plus, `all up to the one that ${what}`);
  }

  let told: string | undefined = '';
  // A machine may be so busy that the good save is seen only when the time of the other is over.
  for (let turn = 1; turn < 7 && !/newer save waits/.test(told ?? ''); turn++) {
    const begun = `begun-${turn}`;
    await save({ top: `writeFileSync(new URL('${begun}', import.meta.url), ''); await new Promise(() => {});` });
    await eventually(() => existsSync(join(hub.folder, begun)));
    plus += step;
    await save({ plus }, false);
    t.log(`${Math.round(await adds(plus))} ms`);
    told = await said(/newer save waits|is read within/);
  }
  t.regex(told ?? '', /newer save waits/);
  expectNeighbourWell();
  hub.process.kill('SIGTERM');
  t.is((await hub.ended()).status, 0);
});
