// Writes to an input of a Virtual Core, in the process of a hub started from a flow file.

import type { Origin } from '../../../lib/model/parameter.ts';
import { silentLog } from '../../../spec/support/silent-log.ts';
import { runTask } from '../../../spec/support/system/task.ts';
import { collectGarbage } from '../../../spec/support/system/used-memory.ts';
import type { Measured } from '../measuring-window.ts';
import { type TurnsTask, timeTurns } from '../writes/timed.ts';
import { type CoreShapeName, coreShapes } from './core-shapes.ts';
import { importHub } from './hub-module.ts';

export interface VirtualCoreTask extends TurnsTask {
  readonly hubFolder: string;
  /** A flow that contains a core of this shape with this many outputs. */
  readonly file: string;
  readonly shape: CoreShapeName;
  readonly outputs: number;
}

/** Measures the number of writes. Errors: an unexpected value or number of changes. */
export async function loadCore(task: VirtualCoreTask): Promise<Measured> {
  const { startHub } = await importHub(task.hubFolder);
  const hub = await startHub({ paths: [task.file], log: silentLog });
  collectGarbage(); // leftovers of the start lie in memory between the outputs, in amounts that vary by chance
  const { last, expected } = coreShapes[task.shape](task.outputs);
  const origin: Origin = { kind: 'client', name: 'bench' };
  const before = hub.revision;
  const measured = timeTurns(
    task,
    (x) => void hub.write('desk/x', x, origin),
    (turns) => {
      const value = hub.find(`core/${last}`)?.value;
      if (value !== expected(turns)) return `expected core/${last} to be ${expected(turns)}, got ${value}`;
      const changes = turns * (task.changing + 1);
      return hub.revision - before === changes
        ? undefined
        : `expected ${changes} changes, got ${hub.revision - before}`;
    },
  );
  await hub.stop();
  return measured;
}

if (import.meta.main) await runTask(loadCore);
