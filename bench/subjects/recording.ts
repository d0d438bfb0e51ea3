// What a store that records everything costs the other clients of a hub: how long changes take to twenty of them.

import type { Latency, NeighboursResult, NeighboursTask } from '../../spec/support/load/neighbours.ts';
import { besideLoad, type LoadedHub } from '../../spec/support/load/stored-hub.ts';
import { startTask } from '../../spec/support/system/task-process.ts';
import type { Contender, Subject } from '../harness/subject.ts';

const parameters = 1000;
const withoutStore = 'the same hub without a store';
const maxSize = '2GB';
const warmUpMs = 2000;
/** The slowest hundredth of the changes is few: it is measured so many times longer than a rate. */
const tailFactor = 8;

export const recording: Subject = {
  name: 'recording',
  about: 'latency from a write to its arrival at other clients while a store records every change of the load',
  measures: ['lib/connections/store', 'lib/graph'],
  rounds: 7,
  async cases({ hubFolder, recordedPerSecond: changesPerSecond, measureMs }) {
    const duringMs = measureMs * tailFactor;
    const load = { hubFolder, parameters, changesPerSecond };
    const measure = async (size: string | undefined) => {
      const { result, recorded } = await besideLoad({ ...load, maxSize: size }, (hub) => latencyOf(hub, duringMs));
      const least = (changesPerSecond * duringMs) / 1000;
      if (size !== undefined && (recorded.rows < least || recorded.gaps > 0))
        throw new Error(`expected at least ${least} rows and no gap, got ${recorded.rows} and ${recorded.gaps}`);
      return { p50: result.p50, p99: result.p99 };
    };
    return [
      {
        name: `${changesPerSecond.toLocaleString('en')} changes/s`,
        metrics: [
          { key: 'p50', title: 'median, ms', digits: 1, better: 'less' },
          {
            key: 'p99',
            title: 'p99, ms',
            digits: 1,
            better: 'less',
            targets: [{ against: withoutStore, atMost: 1.1 }],
          },
        ],
        contenders: [
          { name: 'hub', role: 'hub', measure: () => measure(maxSize) },
          { name: withoutStore, role: 'ceiling', measure: () => measure(undefined) },
        ] satisfies Contender[],
      },
    ];
  },
};

async function latencyOf({ hub, others }: LoadedHub, duringMs: number): Promise<Latency> {
  const task: NeighboursTask = { port: hub.port, addresses: others, beforeMs: warmUpMs, duringMs };
  const { process: neighbours, answer } = startTask('spec/support/load/neighbours.ts', task);
  try {
    await answer();
    neighbours.send('go on');
    return (await answer<NeighboursResult>()).during;
  } finally {
    if (neighbours.connected) neighbours.disconnect();
  }
}
