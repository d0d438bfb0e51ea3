// Many hubs: what two hubs and a NATS server do together, and what a domain costs in which nothing happens. All are processes of their own.

import { setTimeout as after } from 'node:timers/promises';
import { performTask, type ServerProcess } from '../harness/process.ts';
import type { Case, Measurement, Subject } from '../harness/subject.ts';
import { busyMsOfAll } from '../load/busy-time.ts';
import { plantOf } from '../load/flows/many-parameters.ts';
import type { Measured } from '../load/measuring-window.ts';
import type { LatencyResult } from '../processes/loads/latency.ts';
import { inDomain, valuesOf, waitFor } from './domain.ts';
import { deskFlow, levelAddress } from './fan-out.ts';
import { missingNats, waitedMetric } from './servers.ts';

const mirrored = 1000;
const idleHubs = 5;
const tailFactor = 4;
const hopUs = 5000;
/** Hubs warm up what they do alone, and not yet what they do with others. */
const hopWarmUpFactor = 10;
/** What follows a start goes on for so many times the warm-up: V8 collects garbage of its own accord some 8 s after it. */
const calmFactor = 35;

/** One counter of a hub, over all of its labels. */
async function counterOf({ port }: ServerProcess, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/hub/metrics`)).text();
  const counts = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+]+)$`, 'gm'));
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

export const manyHubs: Subject = {
  name: 'hubs',
  about:
    'hubs that share a domain on one NATS server: changes to a mirror, a write to another hub, and a domain that is idle',
  rounds: 3,
  async cases(options, folder) {
    const missing = missingNats();
    if (missing !== undefined) return [{ name: 'hubs', metrics: [], contenders: [], notes: [missing] }];
    const { warmUpMs, changesPerSecond } = options;
    const measureMs = options.measureMs * tailFactor;
    const caseOf = (name: string, metrics: Case['metrics'], measure: () => Promise<Measurement>): Case => ({
      name,
      metrics,
      contenders: [{ name: 'hub', role: 'hub', measure }],
    });
    return [
      caseOf(
        'changes to one mirror',
        [
          { key: 'mirrored', title: 'changes/s at the mirror', digits: 0, better: 'more', targets: [{ atLeast: 1e6 }] },
          { key: 'busy', title: 'mirror busy, %', digits: 0 },
          { key: 'perBusySecond', title: 'changes per busy second of the mirror', digits: 0, better: 'more' },
        ],
        () =>
          inDomain(options, folder, [plantOf(mirrored), { connections: {} }], async ([owner, mirror]) => {
            const task = { port: owner!.port, serverPid: owner!.pid, parameters: mirrored, isById: true };
            const load = performTask<Measured>('loads/v1-ingest', { ...task, warmUpMs, measureMs });
            await after(warmUpMs + measureMs / 4);
            const look = async () => ({
              changes: await counterOf(mirror!, 'patchbay_changes_total'),
              nowMs: performance.now(),
              busyMs: busyMsOfAll(mirror!.pid),
            });
            const before = await look();
            await after(measureMs / 2);
            const now = await look();
            await load;
            await waitFor(
              'the mirror to be as its owner',
              async () => (await valuesOf(owner!)) === (await valuesOf(mirror!)),
            );
            const changes = now.changes - before.changes;
            const busyMs = now.busyMs - before.busyMs;
            const passedMs = now.nowMs - before.nowMs;
            return {
              mirrored: (changes / passedMs) * 1000,
              busy: (busyMs / passedMs) * 100,
              perBusySecond: (changes / busyMs) * 1000,
            };
          }),
      ),
      ...[true, false].map((isWrittenHere) =>
        caseOf(
          isWrittenHere
            ? `a write to another hub, ${changesPerSecond}/s, until it is heard here: two hops`
            : `a change of another hub, ${changesPerSecond}/s, until it is heard here: one hop`,
          [
            { key: 'p50', title: 'median, µs', digits: 0, better: 'less' },
            {
              key: 'p99',
              title: 'p99, µs',
              digits: 0,
              better: 'less',
              targets: [{ atMost: isWrittenHere ? 2 * hopUs : hopUs }],
            },
            waitedMetric,
          ],
          () =>
            inDomain(options, folder, [deskFlow, { connections: {} }], async ([owner, mirror]) => {
              const { p50, p99, waited } = await performTask<LatencyResult>('loads/latency', {
                port: mirror!.port,
                serverPid: mirror!.pid,
                address: levelAddress,
                writePort: isWrittenHere ? undefined : owner!.port,
                sockets: 1,
                changesPerSecond,
                warmUpMs: warmUpMs * hopWarmUpFactor,
                measureMs,
              });
              return { p50: p50 * 1000, p99: p99 * 1000, waited };
            }),
        ),
      ),
      caseOf(
        `${idleHubs} hubs, ${options.parameters / 20} parameters, nothing happens`,
        [{ key: 'busy', title: 'the busiest hub, % of a core', digits: 2, better: 'less', targets: [{ atMost: 1 }] }],
        () => {
          const each = options.parameters / 20 / idleHubs;
          const flows = Array.from({ length: idleHubs }, (_, hub) => ({
            connections: { [`plant-${hub}`]: (Object.values(plantOf(each).connections) as unknown[])[0] },
          }));
          return inDomain(options, folder, flows, async (hubs) => {
            await after(warmUpMs * calmFactor);
            const before = hubs.map(({ pid }) => busyMsOfAll(pid));
            const startedMs = performance.now();
            await after(measureMs * tailFactor * 2);
            const passedMs = performance.now() - startedMs;
            return {
              busy: Math.max(...hubs.map(({ pid }, hub) => ((busyMsOfAll(pid) - before[hub]!) / passedMs) * 100)),
            };
          });
        },
      ),
    ];
  },
};
