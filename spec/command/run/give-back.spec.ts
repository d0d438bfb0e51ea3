import { resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { slowness } from '../../support/system/machine.ts';
import { start } from '../../support/system/process.ts';

const program = resolve(import.meta.dirname, '../../support/system/burst.ts');
/** V8 itself takes more than 40 s. */
const limitMs = 20_000;

// V8 of Node.js 26 cannot be asked to.
const testGivingBack = Number(process.versions.node.split('.')[0]) < 26 ? test : test.skip;

testGivingBack('what a burst has taken goes back to the system soon after', givesBack, []);
testGivingBack('so it does while the process goes on working for a fifth of its time', givesBack, ['steady']);

async function givesBack(t: ExecutionContext, args: readonly string[]) {
  const burst = start(t, args, { program });
  const held = Number((await burst.shows(/^burst (\d+) MiB$/m))[1]);
  const beganAt = performance.now();
  const left = await burst.finds(
    (output) =>
      [...output.matchAll(/^now (\d+) MiB$/gm)].map(([, mebibytes]) => Number(mebibytes)).find((one) => one < held / 2),
    'less than half',
  );
  const tookMs = (performance.now() - beganAt) / slowness();
  t.log(`${held} MiB, then ${left}, after ${Math.round(tookMs)} ms`);
  t.true(tookMs < limitMs, `${tookMs} ms`);
}
