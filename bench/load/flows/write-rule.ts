// One write through one rule, in the process of a hub started from a flow file.

import type { Origin } from '../../../lib/model/parameter.ts';
import { silentLog } from '../../../spec/support/silent-log.ts';
import { runTask } from '../../../spec/support/system/task.ts';
import { timeWrites, type WriteTask } from '../writes/timed.ts';
import { importHub } from './hub-module.ts';

export interface WriteRuleTask extends WriteTask {
  readonly hubFolder: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

await runTask(async ({ hubFolder, file, from, to, writes }: WriteRuleTask) => {
  const { startHub } = await importHub(hubFolder);
  const hub = await startHub({ paths: [file], log: silentLog });
  const origin: Origin = { kind: 'client', name: 'bench' };
  const result = await timeWrites(
    { writes },
    (value) => void hub.write(from, value, origin),
    (count) => {
      const value = hub.find(to)?.value;
      if (value !== count) return `expected ${count} in ${to}, got ${value}`;
      return hub.revision === 2 * count ? undefined : `expected ${2 * count} changes, got ${hub.revision}`;
    },
  );
  await hub.stop();
  return result;
});
