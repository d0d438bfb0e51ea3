// Many dashboards of many parameters that change all the time: what they cost the hub, and how old is
// what they show. And what becomes of the others while some of them read nothing.

import { plantOf } from '../../spec/support/load/many-parameters.ts';
import { startHub } from '../../spec/support/system/task-process.ts';
import { tellingMemory } from '../../spec/support/system/used-memory.ts';
import { measureServer, waitedMetric } from '../contenders/servers.ts';
import type { Options } from '../harness/options.ts';
import type { Measurement, Subject } from '../harness/subject.ts';
import type { DashboardsResult, DashboardsTask } from '../load/dashboards.ts';

const noStall = 'none stalled';
const stalledShare = 1 / 20;
const kibibyte = 1024;

/** All are sent 1,000 values 30 times a second. */
const busy = { parameters: 1000, changesPerSecond: 50, rate: 30 };
/** In half a minute each is sent more than the system's buffers between hub and dashboard hold. */
const many = { parameters: 400, changesPerSecond: 50, rate: 30 };

export const v1Dashboards: Subject = {
  name: 'v1-dashboards',
  about:
    'patchbay.v1: dashboards that receive the newest values 30 times per second, of 1,000 parameters with 50 changes/s each',
  measures: ['lib/connections/rest-api/sockets', 'lib/graph', 'lib/net'],
  rounds: 5,
  async cases(options, folder) {
    const { dashboards, warmUpMs, measureMs } = options;
    const task = { ...busy, dashboards, stalled: 0, tellsMemory: false, warmUpMs, measureMs: 3 * measureMs };
    return [
      {
        name: `${dashboards} dashboards`,
        metrics: [
          {
            key: 'busy',
            title: 'processor time of the hub, % of a core',
            digits: 0,
            better: 'less',
            targets: [{ atMost: 50 }],
          },
          {
            key: 'shown99',
            title: 'age of what is shown, p99, ms',
            digits: 1,
            better: 'less',
            targets: [{ atMost: 60 }],
          },
          { key: 'shown50', title: 'age of what is shown, median, ms', digits: 1 },
          { key: 'arrival99', title: 'from write to arrival, p99, ms', digits: 1 },
          { key: 'values', title: 'values/s that arrived', digits: 0 },
          { key: 'loadBusy', title: 'load busy, %', digits: 0 },
          waitedMetric,
        ],
        contenders: [{ name: 'hub', role: 'hub', measure: () => measure(task, options, folder) }],
      },
    ];
  },
};

export const v1Stalled: Subject = {
  name: 'v1-stalled',
  about:
    'patchbay.v1: dashboards, one in 20 of which reads nothing for a while; in the end, each must show the newest values',
  measures: ['lib/connections/rest-api/sockets', 'lib/graph', 'lib/net'],
  rounds: 2,
  async cases(options, folder) {
    const { stalledAmong, stallMs, warmUpMs } = options;
    const stalled = Math.ceil(stalledAmong * stalledShare);
    const task = { ...many, dashboards: stalledAmong, tellsMemory: true, warmUpMs };
    const contender = (count: number, measureMs: number) => async () => {
      const figures = await measure({ ...task, stalled: count, measureMs }, options, folder);
      return { ...figures, resident: figures.resident! / stalled, heap: figures.heap! / stalled };
    };
    return [
      {
        name: `${stalled} of ${stalledAmong} stalled for ${stallMs / 1000} s`,
        metrics: [
          {
            key: 'arrival99',
            title: 'the others, from write to arrival, p99, ms',
            digits: 1,
            better: 'less',
            targets: [{ against: noStall, atMost: 1.2 }],
          },
          { key: 'arrival50', title: 'the others, from write to arrival, median, ms', digits: 1 },
          { key: 'resident', title: 'resident KiB more per stalled one', digits: 0, targets: [{ atMost: 64 }] },
          { key: 'heap', title: 'heap KiB more per stalled one', digits: 0, targets: [{ atMost: 64 }] },
          { key: 'spared', title: 'bytes that the stalled were spared, %', digits: 0 },
          { key: 'busy', title: 'processor time of the hub, % of a core', digits: 0 },
          waitedMetric,
        ],
        contenders: [
          { name: 'hub', role: 'hub', measure: contender(stalled, stallMs) },
          { name: noStall, role: 'ceiling', measure: contender(0, Math.min(stallMs, 10_000)) },
        ],
      },
    ];
  },
};

async function measure(
  task: Omit<DashboardsTask, 'hubs' | 'writtenPorts'>,
  options: Options,
  folder: string,
): Promise<Measurement> {
  const nodeOptions = task.tellsMemory ? tellingMemory : [];
  const result = await measureServer<DashboardsResult>(
    () => startHub(plantOf(task.parameters), folder, options, nodeOptions),
    'bench/load/dashboards.ts',
    ({ port, pid }): DashboardsTask => ({ ...task, hubs: [{ port, pid }], writtenPorts: [port] }),
  );
  const { elapsedMs, serverBusyMs, loadBusyMs, waitedMs, arrival, shown, values, growth, spared } = result;
  return {
    busy: (serverBusyMs / elapsedMs) * 100,
    loadBusy: (loadBusyMs / elapsedMs) * 100,
    waited: (waitedMs / elapsedMs) * 100,
    arrival50: arrival[0],
    arrival99: arrival[1],
    shown50: shown[0],
    shown99: shown[1],
    values: (values / elapsedMs) * 1000,
    spared: spared * 100,
    ...(growth && { resident: growth.residentBytes / kibibyte, heap: growth.heapBytes / kibibyte }),
  };
}
