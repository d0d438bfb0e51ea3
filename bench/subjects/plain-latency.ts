// Latency of the plain fan-out at a rate that leaves everybody time: from the write of one socket to each socket.

import { startHub, startServer } from '../../spec/support/system/task-process.ts';
import { deskFlow, levelAddress } from '../contenders/fan-out.ts';
import { measureServer, relayName, waitedMetric } from '../contenders/servers.ts';
import type { Contender, Subject } from '../harness/subject.ts';
import type { LatencyResult, LatencyTask } from '../load/latency.ts';

/** The slowest hundredth of the changes is few: it is measured so many times longer than a rate. */
const tailFactor = 4;

export const plainLatency: Subject = {
  name: 'plain-latency',
  about: 'latency from a write by one socket to its arrival at every socket, at a constant rate of changes',
  measures: ['lib/connections/rest-api/sockets', 'lib/graph', 'lib/net'],
  rounds: 9,
  async cases(options, folder) {
    const { latencySockets, changesPerSecond, warmUpMs } = options;
    const measureMs = options.measureMs * tailFactor;
    const measure = async (start: Parameters<typeof measureServer>[0], sockets: number) => {
      const task = { address: levelAddress, sockets, changesPerSecond, warmUpMs, measureMs };
      const result = await measureServer<LatencyResult>(
        start,
        'bench/load/latency.ts',
        ({ port, pid }): LatencyTask => ({
          port,
          serverPid: pid,
          ...task,
        }),
      );
      return { p50: result.p50 * 1000, p99: result.p99 * 1000, rate: result.changesPerSecond, waited: result.waited };
    };
    return latencySockets.map((sockets) => ({
      name: `${sockets} sockets`,
      metrics: [
        { key: 'p50', title: 'median, µs', digits: 0, better: 'less' },
        { key: 'p99', title: 'p99, µs', digits: 0, better: 'less', targets: [{ against: relayName, atMost: 1.15 }] },
        { key: 'rate', title: 'changes/s made', digits: 0 },
        waitedMetric,
      ],
      contenders: [
        { name: 'hub', role: 'hub', measure: () => measure(() => startHub(deskFlow, folder, options), sockets) },
        {
          name: relayName,
          role: 'ceiling',
          measure: () => measure(() => startServer('bench/contenders/relay.ts', {}), sockets),
        },
      ] satisfies Contender[],
    }));
  },
};
