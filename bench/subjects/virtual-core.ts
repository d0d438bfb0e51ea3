// The Virtual Core inside a running hub: how many outputs it computes, next to what the bare graph takes for as many writes,
// and whether a small change costs the same in a large core.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performTask, profileOptions } from '../../spec/support/system/task-process.ts';
import type { Options } from '../harness/options.ts';
import type { Case, Contender, Subject } from '../harness/subject.ts';
import type { VirtualCoreTask } from '../load/flows/core-load.ts';
import { type CoreShapeName, coreFlow, coreShapes } from '../load/flows/core-shapes.ts';
import type { Measured } from '../load/measuring-window.ts';

const bareName = 'the bare graph';
const fewOutputs = 10;
const targetPerSecond = 1_000_000;

export const virtualCore: Subject = {
  name: 'virtual-core',
  about:
    'a write that changes outputs of a Virtual Core in the same process; the ceiling is a graph that takes as many writes',
  measures: ['lib/connections/virtual-core', 'lib/graph', 'lib/expression'],
  rounds: 9,
  async cases(options, folder) {
    const many = options.coreOutputs;
    const shapes = [
      ['wide', many],
      ['deep', Math.ceil(many / 10)],
      ['latches', many],
    ] as const;
    const rates = shapes.map(([shape, outputs]) => rateCase(shape, outputs, options, folder));
    return [...(await Promise.all(rates)), await smallChangeCase(many, options, folder)];
  },
};

/** Every write changes every output. */
async function rateCase(shape: CoreShapeName, outputs: number, options: Options, folder: string): Promise<Case> {
  const { name, changing } = coreShapes[shape](outputs);
  const { warmUpMs, measureMs } = options;
  const figures = ({ done, elapsedMs }: Measured) => ({ rate: (done * changing * 1000) / elapsedMs });
  const measureHub = await coreMeasure(shape, outputs, options, folder);
  return {
    name,
    metrics: [{ key: 'rate', title: 'outputs/s', digits: 0, better: 'more', targets: [{ atLeast: targetPerSecond }] }],
    contenders: [
      { name: 'hub', role: 'hub', measure: async () => figures(await measureHub()) },
      {
        name: bareName,
        role: 'ceiling',
        measure: async () =>
          figures(await performTask<Measured>('bench/contenders/bare-turns.ts', { changing, warmUpMs, measureMs })),
      },
    ],
  };
}

/** A write that changes three outputs, in a large core and in a small one. */
async function smallChangeCase(many: number, options: Options, folder: string): Promise<Case> {
  const contender = async (name: string, role: Contender['role'], outputs: number): Promise<Contender> => {
    const measureHub = await coreMeasure('chain', outputs, options, folder);
    return {
      name,
      role,
      async measure() {
        const { done, elapsedMs } = await measureHub();
        return { time: (elapsedMs * 1e6) / done };
      },
    };
  };
  const few = coreShapes.chain(fewOutputs).name;
  return {
    name: coreShapes.chain(many).name,
    metrics: [
      { key: 'time', title: 'ns per write', digits: 0, better: 'less', targets: [{ against: few, atMost: 2 }] },
    ],
    contenders: [await contender('hub', 'hub', many), await contender(few, 'ceiling', fewOutputs)],
  };
}

/** Writes the flow of a core; what is returned measures a hub with it, in a fresh process. */
async function coreMeasure(
  shape: CoreShapeName,
  outputs: number,
  { hubFolder, profileFolder, warmUpMs, measureMs }: Options,
  folder: string,
): Promise<() => Promise<Measured>> {
  const { outputs: declared, changing } = coreShapes[shape](outputs);
  const file = join(folder, `${shape}-${outputs}.json5`);
  await writeFile(file, JSON.stringify(coreFlow(declared)));
  const task: VirtualCoreTask = { hubFolder, file, shape, outputs, changing, warmUpMs, measureMs };
  return () => performTask<Measured>('bench/load/flows/core-load.ts', task, profileOptions(profileFolder));
}
