// Declares many parameters in a hub that starts from a flow file, and reports the time and memory they take.

import { setTimeout as delay } from 'node:timers/promises';
import type { Hub } from '../../../lib/hub/index.ts';
import { silentLog } from '../../../spec/support/silent-log.ts';
import { runTask } from '../../../spec/support/system/task.ts';
import { measureDeclaring } from '../declaring-costs.ts';
import { importHub } from './hub-module.ts';

export interface MemoryTask {
  readonly hubFolder: string;
  readonly file: string;
  readonly parameters: number;
  /** Address and value (omitted: unknown) of one parameter that must exist. */
  readonly sample: { readonly address: string; readonly value?: number };
}

/** A hub that has just started is still compressing the text of long flow files. */
const settleMs = 2000;

await runTask(async ({ hubFolder, file, parameters, sample }: MemoryTask) => {
  const { startHub } = await importHub(hubFolder);
  const start = () => startHub({ paths: [file], log: silentLog });
  const { made, costs } = await measureDeclaring(start, () => delay(settleMs));
  check(made);
  await made.stop();
  return costs;

  function check(hub: Hub): void {
    const count = [...hub.parameters()].length;
    if (count !== parameters) throw new Error(`expected ${parameters} parameters, got ${count}`);
    const found = hub.find(sample.address);
    if (found === undefined) throw new Error(`expected ${sample.address}, there is none`);
    if (found.value !== sample.value)
      throw new Error(`expected ${sample.value} in ${sample.address}, got ${found.value}`);
  }
});
