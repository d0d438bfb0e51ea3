// The load of a Virtual Core: every shape, small, computes what it has to; a value other than that fails the round.

import { join, resolve } from 'node:path';
import test from 'ava';
import { createFolder } from '../../spec/support/folder.ts';
import { loadCore, type VirtualCoreTask } from '../load/flows/core-load.ts';
import { type CoreShapeName, coreFlow, coreShapes } from '../load/flows/core-shapes.ts';
import type { Measured } from '../load/measuring-window.ts';

const hubFolder = resolve(import.meta.dirname, '../..');
const outputs = 20;

async function run(folder: string, shape: CoreShapeName, changing: number): Promise<Measured> {
  const times = { warmUpMs: 1, measureMs: 10 };
  const task: VirtualCoreTask = { hubFolder, file: join(folder, 'flow.json5'), shape, outputs, changing, ...times };
  return loadCore(task);
}

for (const shape of ['wide', 'deep', 'latches', 'chain'] as const)
  test(`a core of the shape ${shape} has right answers`, async (t) => {
    const { outputs: declared, changing } = coreShapes[shape](outputs);
    const folder = await createFolder(t, { 'flow.json5': coreFlow(declared) });
    t.true((await run(folder, shape, changing)).done > 0);
  });

test('a value other than the expected one fails the round, and so does any other number of changes', async (t) => {
  const { outputs: declared, changing } = coreShapes.wide(outputs);
  const folder = await createFolder(t, {
    'flow.json5': coreFlow({ ...declared, o19: { type: 'F', expression: 'x' } }),
  });
  await t.throwsAsync(run(folder, 'wide', changing), { message: /^expected core\/o19 to be \d+, got \d+$/ });
  const right = await createFolder(t, { 'flow.json5': coreFlow(declared) });
  await t.throwsAsync(run(right, 'wide', changing + 1), { message: /^expected \d+ changes, got \d+$/ });
});
