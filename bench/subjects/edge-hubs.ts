// Dashboards on hubs that own nothing and only serve: what two of them do with a second of processor time, beside one hub that has
// all dashboards and all parameters. Two hubs that know nothing of one another tell what it costs to be two processes at all.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { plantOf } from '../../spec/support/load/many-parameters.ts';
import { performTask, type ServerProcess, startHub } from '../../spec/support/system/task-process.ts';
import { type Flow, inDomain } from '../contenders/domain.ts';
import { missingNats, waitedMetric } from '../contenders/servers.ts';
import type { Options } from '../harness/options.ts';
import type { Measurement, Subject } from '../harness/subject.ts';
import type { DashboardsResult, DashboardsTask } from '../load/dashboards.ts';

const edgeHubs = 2;
const oneHub = 'one hub';
const dashboardsFactor = 4;
/** Hubs run for weeks, and all dashboards come at once: what counts is how it goes once V8 has compiled what runs from then on. */
const warmUpFactor = 45;
/** What one core serves to two thousand dashboards, and another one can read. */
const load = { parameters: 1000, changesPerSecond: 10, rate: 30 };

export const edges: Subject = {
  name: 'edge-hubs',
  about:
    'dashboards on two edge hubs, which mirror a third hub over a NATS server, compared with all dashboards on one hub',
  measures: ['lib/connections/nats', 'lib/connections/rest-api/sockets', 'lib/graph', 'lib/net'],
  rounds: 3,
  async cases(options, folder) {
    const dashboards = options.dashboards * dashboardsFactor;
    const missing = missingNats();
    return [
      {
        name: `${dashboards.toLocaleString('en')} dashboards`,
        metrics: [
          {
            key: 'perBusySecond',
            title: 'values delivered per busy second of the hubs with dashboards',
            digits: 0,
            better: 'more',
            targets: [{ against: oneHub, atLeast: 0.9 }],
          },
          { key: 'values', title: 'values/s that arrived', digits: 0 },
          { key: 'busy', title: 'processor time of these hubs, % of a core', digits: 0 },
          { key: 'arrival99', title: 'from write to arrival, p99, ms', digits: 1 },
          { key: 'loadBusy', title: 'load busy, %', digits: 0 },
          waitedMetric,
        ],
        contenders:
          missing === undefined
            ? [
                { name: 'two edge hubs', role: 'hub', measure: () => measureEdges(dashboards, options, folder) },
                { name: oneHub, role: 'ceiling', measure: () => measureAlone(1, dashboards, options, folder) },
                {
                  name: 'two hubs alone',
                  role: 'peer',
                  measure: () => measureAlone(edgeHubs, dashboards, options, folder),
                },
              ]
            : [],
        notes: missing === undefined ? [] : [missing],
      },
    ];
  },
};

/** Hubs without a domain have all parameters each, are written the same, and share the dashboards. */
async function measureAlone(count: number, dashboards: number, options: Options, folder: string): Promise<Measurement> {
  const hubs: ServerProcess[] = [];
  try {
    while (hubs.length < count) {
      const own = join(folder, `alone-${hubs.length}`);
      await mkdir(own, { recursive: true });
      hubs.push(await startHub(plantOf(load.parameters), own, options));
    }
    return figuresOf(
      await performTask<DashboardsResult>('bench/load/dashboards.ts', taskOf(hubs, hubs, dashboards, options)),
    );
  } finally {
    await Promise.allSettled(hubs.map((hub) => hub.stop()));
  }
}

/** A hub that owns and is written to, and hubs with dashboards. */
function measureEdges(dashboards: number, options: Options, folder: string): Promise<Measurement> {
  const flows: Flow[] = [plantOf(load.parameters), ...Array.from({ length: edgeHubs }, () => ({ connections: {} }))];
  return inDomain(options, folder, flows, async ([owner, ...hubs]) =>
    figuresOf(
      await performTask<DashboardsResult>('bench/load/dashboards.ts', taskOf([owner!], hubs, dashboards, options)),
    ),
  );
}

function taskOf(
  written: readonly ServerProcess[],
  hubs: readonly ServerProcess[],
  dashboards: number,
  { warmUpMs, measureMs }: Options,
): DashboardsTask {
  return {
    ...load,
    hubs: hubs.map(({ port, pid }) => ({ port, pid })),
    writtenPorts: written.map(({ port }) => port),
    dashboards,
    stalled: 0,
    tellsMemory: false,
    warmUpMs: warmUpMs * warmUpFactor,
    measureMs: 3 * measureMs,
  };
}

function figuresOf(result: DashboardsResult): Measurement {
  const { elapsedMs, serverBusyMs, loadBusyMs, waitedMs, arrival, values } = result;
  return {
    perBusySecond: (values / serverBusyMs) * 1000,
    values: (values / elapsedMs) * 1000,
    busy: (serverBusyMs / elapsedMs) * 100,
    arrival99: arrival[1],
    loadBusy: (loadBusyMs / elapsedMs) * 100,
    waited: (waitedMs / elapsedMs) * 100,
  };
}
