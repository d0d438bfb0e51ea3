// One write through one from-to rule, in process: what the graph costs over the rxjs that it is made of.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performTask, profileOptions } from '../../spec/support/system/task-process.ts';
import type { Subject } from '../harness/subject.ts';
import type { WriteRuleTask } from '../load/flows/write-rule.ts';
import type { WriteResult, WriteTask } from '../load/writes/timed.ts';

const flow = {
  connections: { desk: { type: 'dummy', parameters: ['from,I', 'to,I'] } },
  rules: [{ from: 'desk/from', to: 'desk/to' }],
};

export const writeRule: Subject = {
  name: 'write-rule',
  about:
    'one write through a rule with only `from` and `to`; the ceiling is BehaviorSubject → subscribe → BehaviorSubject in bare rxjs',
  measures: ['lib/flow/run', 'lib/graph', 'lib/expression'],
  rounds: 5,
  async cases({ writes, profileFolder, hubFolder }, folder) {
    const file = join(folder, 'flow.json5');
    await writeFile(file, JSON.stringify(flow));
    const ruleTask: WriteRuleTask = { hubFolder, writes, file, from: 'desk/from', to: 'desk/to' };
    const chainTask: WriteTask = { writes };
    return [
      {
        name: 'one rule',
        metrics: [
          { key: 'median', title: 'ns per write, median', digits: 0, better: 'less' },
          { key: 'p99', title: 'ns per write, p99', digits: 0, better: 'less' },
        ],
        contenders: [
          {
            name: 'hub',
            role: 'hub',
            measure: async () =>
              figures(
                await performTask<WriteResult>(
                  'bench/load/flows/write-rule.ts',
                  ruleTask,
                  profileOptions(profileFolder),
                ),
              ),
          },
          {
            name: 'bare rxjs',
            role: 'ceiling',
            measure: async () => figures(await performTask<WriteResult>('bench/contenders/write-chain.ts', chainTask)),
          },
        ],
      },
    ];
  },
};

function figures({ medianNs, p99Ns }: WriteResult) {
  return { median: medianNs, p99: p99Ns };
}
