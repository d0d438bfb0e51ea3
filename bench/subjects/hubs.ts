// Many hubs: what two hubs and a NATS server do together, and what a domain costs in which nothing happens. All are processes of their own.

import { setTimeout as after } from 'node:timers/promises';
import { plantOf } from '../../spec/support/load/many-parameters.ts';
import { busyMsOfAll } from '../../spec/support/system/process-usage.ts';
import { performTask, type ServerProcess } from '../../spec/support/system/task-process.ts';
import { inDomain, valuesOf, waitFor } from '../contenders/domain.ts';
import { deskFlow, levelAddress } from '../contenders/fan-out.ts';
import { missingNats, waitedMetric } from '../contenders/servers.ts';
import type { Options } from '../harness/options.ts';
import type { Case, Measurement, Subject } from '../harness/subject.ts';
import type { LatencyResult } from '../load/latency.ts';
import type { Measured } from '../load/measuring-window.ts';

const mirrored = 1000;
const idleHubs = 5;
const tailFactor = 4;
const hopUs = 5000;
/** Hubs warm up what they do alone, and not yet what they do with others. */
const hopWarmUpFactor = 10;
/** What follows a start goes on for so many times the warm-up: V8 collects garbage of its own accord some 8 s after it. */
const calmFactor = 35;

export const manyHubs: Subject = {
  name: 'hubs',
  about: 'hubs that share a domain on one NATS server: changes to a mirror, a write to another hub, and an idle domain',
  measures: ['lib/connections/nats', 'lib/graph'],
  rounds: 3,
  async cases(options, folder) {
    const missing = missingNats();
    if (missing !== undefined) return [{ name: 'hubs', metrics: [], contenders: [], notes: [missing] }];
    return [
      mirrorCase(options, folder),
      hopCase(true, options, folder),
      hopCase(false, options, folder),
      idleCase(options, folder),
    ];
  },
};

/** One hub owns what changes as fast as it can, and another one mirrors it. */
function mirrorCase(options: Options, folder: string): Case {
  const { warmUpMs } = options;
  const measureMs = options.measureMs * tailFactor;
  return caseOf(
    'changes to one mirror',
    [
      { key: 'mirrored', title: 'changes/s at the mirror', digits: 0, better: 'more', targets: [{ atLeast: 1e6 }] },
      { key: 'busy', title: 'mirror busy, %', digits: 0 },
      { key: 'perBusySecond', title: 'changes per busy second of the mirror', digits: 0, better: 'more' },
    ],
    () =>
      inDomain(options, folder, [plantOf(mirrored), { connections: {} }], async ([owner, mirror]) => {
        const task = { port: owner!.port, serverPid: owner!.pid, parameters: mirrored, isById: true };
        const load = performTask<Measured>('bench/load/v1-ingest.ts', { ...task, warmUpMs, measureMs });
        await after(warmUpMs + measureMs / 4);
        const changes = () => counterOf(mirror!, 'patchbay_changes_total');
        const { done, elapsedMs, serverBusyMs } = await measureFor(measureMs / 2, mirror!, changes);
        await load;
        await waitFor(
          'the mirror to be as its owner',
          async () => (await valuesOf(owner!)) === (await valuesOf(mirror!)),
        );
        return {
          mirrored: (done / elapsedMs) * 1000,
          busy: (serverBusyMs / elapsedMs) * 100,
          perBusySecond: (done / serverBusyMs) * 1000,
        };
      }),
  );
}

/** How long it takes until a mirror tells what was written: here, or at the hub that owns it. */
function hopCase(isWrittenHere: boolean, options: Options, folder: string): Case {
  const { warmUpMs, changesPerSecond } = options;
  const atMost = isWrittenHere ? 2 * hopUs : hopUs;
  return caseOf(
    isWrittenHere
      ? `a write to another hub, ${changesPerSecond}/s, until it is heard here: two hops`
      : `a change of another hub, ${changesPerSecond}/s, until it is heard here: one hop`,
    [
      { key: 'p50', title: 'median, µs', digits: 0, better: 'less' },
      { key: 'p99', title: 'p99, µs', digits: 0, better: 'less', targets: [{ atMost }] },
      waitedMetric,
    ],
    () =>
      inDomain(options, folder, [deskFlow, { connections: {} }], async ([owner, mirror]) => {
        const { p50, p99, waited } = await performTask<LatencyResult>('bench/load/latency.ts', {
          port: mirror!.port,
          serverPid: mirror!.pid,
          address: levelAddress,
          writePort: isWrittenHere ? undefined : owner!.port,
          sockets: 1,
          changesPerSecond,
          warmUpMs: warmUpMs * hopWarmUpFactor,
          measureMs: options.measureMs * tailFactor,
        });
        return { p50: p50 * 1000, p99: p99 * 1000, waited };
      }),
  );
}

/** Hubs that own some parameters each, and mirror those of the others. */
function idleCase(options: Options, folder: string): Case {
  const parameters = options.parameters / 20;
  return caseOf(
    `${idleHubs} hubs, ${parameters} parameters, nothing happens`,
    [{ key: 'busy', title: 'the busiest hub, % of a core', digits: 2, better: 'less', targets: [{ atMost: 1 }] }],
    () => {
      const flows = Array.from({ length: idleHubs }, (_, hub) => ({
        connections: {
          [`plant-${hub}`]: (Object.values(plantOf(parameters / idleHubs).connections) as unknown[])[0],
        },
      }));
      return inDomain(options, folder, flows, async (hubs) => {
        await after(options.warmUpMs * calmFactor);
        const lengthMs = options.measureMs * tailFactor ** 2 * 2;
        const measured = await Promise.all(hubs.map((hub) => measureFor(lengthMs, hub)));
        return { busy: Math.max(...measured.map(({ serverBusyMs, elapsedMs }) => (serverBusyMs / elapsedMs) * 100)) };
      });
    },
  );
}

function caseOf(name: string, metrics: Case['metrics'], measure: () => Promise<Measurement>): Case {
  return { name, metrics, contenders: [{ name: 'hub', role: 'hub', measure }] };
}

/** What a hub does within a time, and how long it works; nobody looks in between, since a look has it work as well. */
async function measureFor(
  lengthMs: number,
  hub: ServerProcess,
  done: () => number | Promise<number> = () => 0,
): Promise<Measured> {
  const look = async () => ({ done: await done(), elapsedMs: performance.now(), serverBusyMs: busyMsOfAll(hub.pid) });
  const start = await look();
  await after(lengthMs);
  const end = await look();
  return {
    done: end.done - start.done,
    elapsedMs: end.elapsedMs - start.elapsedMs,
    serverBusyMs: end.serverBusyMs - start.serverBusyMs,
  };
}

/** One counter of a hub, over all of its labels. */
async function counterOf({ port }: ServerProcess, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/hub/metrics`)).text();
  const counts = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+]+)$`, 'gm'));
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
