// Misbehaving flows in TypeScript, at load and at run time: they are reported, the hub continues as well as it can,
// other rules are not disturbed, and a later reload takes effect.

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { RuleStatus } from '../../../lib/model/reports/rule-status.ts';
import { eventually } from '../../support/deadline.ts';
import { flow, startMisbehaving } from '../../support/flow/misbehaving.ts';
import { sampled } from '../../support/random.ts';
import { shared } from '../../support/shared.ts';
import { startHubProcessIn } from '../../support/system/hub-process.ts';
import { messagesOf } from '../../support/system/log-messages.ts';
import { type Parts, step } from '../../trials/misbehave/flow.ts';
import { atImport, whileRunning } from '../../trials/misbehave/ways.ts';

/** After this many refused flows, a good one is saved. */
const goodEvery = 4;
/** A selection, to save time; `npm run trial -- misbehave` runs all of them. */
const loaded = [
  'throws',
  'throws-hostile',
  'throws-in-a-timer',
  'exits',
  'waits-for-ever',
  'loops-in-rules',
  'rejects-in-rules',
  'bad-syntax',
  'changes-what-all-share',
  'changes-a-prototype',
];
/** The same for misbehaviour at run time. */
const saves: Readonly<Record<string, { readonly names: readonly string[]; flowOf(pipes: readonly string[]): Parts }>> =
  {
    'all at once, as they leave the stream as it is': {
      names: ['throws-later', 'rejects-with-nothing', 'is-refused', 'exits-later', 'leaks-subscribers'],
      flowOf: (pipes) => ({ pipe: pipes.join(', ') }),
    },
    'one after another, each when the stream that the previous one ended restarts': {
      names: [
        'changes-what-all-share-later',
        'throws-hostile-in-the-stream',
        'recurses-in-the-stream',
        'exits-in-the-stream',
        'emits-far-too-much',
      ],
      // A stream that begins with a value restarts after a second; others wait longer each time.
      flowOf: (pipes) => ({
        top: "import { defer, startWith } from 'rxjs'; let turn = 0;",
        pipe: `(x$) => defer(() => x$.pipe([${pipes.join(', ')}][turn++], startWith(0)))`,
      }),
    },
  };

/** Returns how a hub with a loop ended, and the next hub in its folder. */
const looped = shared(async (t) => {
  const { hub, save, setUntil } = await startMisbehaving(t);
  await save({ pipe: 'tap((x) => { for (let n = 0; x < 0; n++); })' });
  await setUntil(hub.ended());
  return { ended: await hub.ended(), next: await startHubProcessIn(t, hub.folder) };
});

test.serial(
  'an endless loop in a running stream ends the hub, and the next start skips that flow until it changes',
  async (t) => {
    const { ended, next } = await looped();
    t.is(ended.signal, 'SIGKILL');
    t.regex(
      messagesOf(ended.output, next.folder).at(-1)!,
      /^flow flow\.ts has stopped the hub: it ran for 4 s .* at flow\.ts:10:\d+\./,
    );
    await next.shows(/flow \S+flow\.ts is skipped; .*: it ran for 4 s without yielding, at \S+flow\.ts:10:/);
    await next.shows(/started with 2 connections, 1 rule,/);
    await writeFile(join(next.folder, 'flow.ts'), flow({ plus: 3000 }));
    await next.shows(/reloaded: rules: 1 added/);
  },
);

test.serial(
  'a flow that misbehaves at load is reported with file and line, disturbs nobody, and the next good save takes effect without waiting for one that hangs',
  async (t) => {
    const { hub, said, save, adds, expectNeighbourWell } = await startMisbehaving(t, (await looped()).next);
    let plus = step;
    await save({ plus });
    await adds(plus);
    const isSaved = sampled(t, 2);
    const chosen = loaded.filter((_, index) => isSaved(index));
    for (const [index, what] of chosen.entries()) {
      const { flow, reported } = atImport[what]!;
      await save(flow);
      await t.notThrowsAsync(said(reported!), what);
      await said(/^reload failed/);
      await adds(plus, what); // the flow as it was runs on
      if (index % goodEvery < goodEvery - 1 && index < chosen.length - 1) continue;
      plus += step;
      await save({ plus });
      await adds(plus, `all up to the one that ${what}`);
    }

    let reported: string | undefined = '';
    // A machine may be so busy that the good save is seen only when the time of the other is over.
    for (let turn = 1; turn < 7 && !/newer version has been saved/.test(reported ?? ''); turn++) {
      const begun = `begun-${turn}`;
      await save({ top: `writeFileSync(new URL('${begun}', import.meta.url), ''); await new Promise(() => {});` });
      await eventually(() => existsSync(join(hub.folder, begun)));
      plus += step;
      await save({ plus }, false);
      t.log(`${Math.round(await adds(plus))} ms`);
      reported = await said(/newer version has been saved|loads within/);
    }
    t.regex(reported ?? '', /newer version has been saved/);
    expectNeighbourWell();
  },
);

test.serial(
  'a flow that misbehaves at run time is reported with file and line, disturbs nobody, and the next good save takes effect',
  async (t) => {
    const { hub, said, save, adds, setUntil, expectNeighbourWell } = await startMisbehaving(t, (await looped()).next);
    const ruleOf = async (name: string) =>
      (JSON.parse(await hub.get('hub/rules')) as RuleStatus[]).find((rule) => rule.name === name)!;
    let plus = step;
    let known = 0;
    for (const [how, { names, flowOf }] of Object.entries(saves)) {
      const ways = names.map((name) => whileRunning[name]!);
      await save(flowOf(ways.map(({ flow }) => flow.pipe!)));
      await t.notThrowsAsync(setUntil(Promise.all(ways.map(({ reported }) => said(reported!)))), how);
      const { state, faults, dropped } = await ruleOf('sum');
      t.true(['failing', 'limited'].includes(state), how);
      t.true(faults + dropped >= known + names.length, how);
      t.is(dropped > 0, names.includes('emits-far-too-much'), how);
      known = faults + dropped;
      await save({ plus });
      await adds(plus, how);
      plus += step;
    }
    expectNeighbourWell();
    hub.process.kill('SIGTERM');
    t.is((await hub.ended()).status, 0);
  },
);
