// Many hubs: what two hubs and a NATS server do together, and what a domain costs in which nothing happens. All are processes of their own.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { ParameterInfo } from '../../lib/wire/http/parameters.ts';
import type { Options } from '../harness/options.ts';
import { performTask, type ServerProcess, startHub, startProgram } from '../harness/process.ts';
import type { Case, Measurement, Subject } from '../harness/subject.ts';
import { busyMsOfAll } from '../load/busy-time.ts';
import { plantOf } from '../load/flows/many-parameters.ts';
import type { Measured } from '../load/measuring-window.ts';
import type { LatencyResult } from '../processes/latency-load.ts';
import { deskFlow, levelAddress } from './fan-out.ts';
import { missingNats, waitedMetric } from './servers.ts';

const mirrored = 1000;
const idleHubs = 5;
const tailFactor = 4;
/** What follows a start goes on for so many times the warm-up: V8 collects garbage of its own accord some 8 s after it. */
const calmFactor = 35;
const settleDeadlineMs = 30_000;

/** The connections of one hub of a flow. */
interface Flow {
  readonly connections: Record<string, unknown>;
}

/** One counter of a hub, over all of its labels. */
async function counterOf({ port }: ServerProcess, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/hub/metrics`)).text();
  const counts = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+]+)$`, 'gm'));
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** What a hub holds of the parameters that are shared, by address. */
async function valuesOf({ port }: ServerProcess): Promise<string> {
  const parameters = (await (await fetch(`http://127.0.0.1:${port}/hub/parameters`)).json()) as ParameterInfo[];
  const values = parameters.flatMap(({ parameter, value }) =>
    parameter.startsWith('hub/') ? [] : [`${parameter}=${value}`],
  );
  return JSON.stringify(values.sort());
}

/** Waits until a question is answered with yes. Errors: when that takes too long. */
async function wait(what: string, ask: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + settleDeadlineMs;
  while (!(await ask())) {
    if (performance.now() > endMs) throw new Error(`expected ${what} within ${settleDeadlineMs / 1000} s`);
    await after(50);
  }
}

/** Runs work with a server of NATS and hubs of one domain, the first of which knows nobody yet, and ends them. */
async function inDomain<Result>(
  options: Options,
  folder: string,
  flows: readonly Flow[],
  work: (hubs: readonly ServerProcess[]) => Promise<Result>,
): Promise<Result> {
  const running: ServerProcess[] = [];
  try {
    const nats = await startProgram(
      'nats-server',
      ['-a', '127.0.0.1', '-p', '-1', '-js', '-sd', join(folder, `nats-${performance.now()}`)],
      /client connections on 127\.0\.0\.1:(\d+)/,
    );
    running.push(nats);
    for (const [index, { connections }] of flows.entries()) {
      const own = join(folder, `hub-${index}`);
      await mkdir(own, { recursive: true });
      const servers = [`nats://127.0.0.1:${nats.port}`];
      const house = { type: 'nats', servers, domain: 'bench', hub: `hub-${index}` };
      running.push(await startHub({ connections: { ...connections, house } }, own, options));
    }
    const hubs = running.slice(1);
    await wait(
      'the same parameters at all hubs',
      async () => new Set(await Promise.all(hubs.map(valuesOf))).size === 1,
    );
    return await work(hubs);
  } finally {
    for (const one of running.reverse()) await one.stop().catch(() => {});
  }
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
            const load = performTask<Measured>('v1-ingest-load', { ...task, warmUpMs, measureMs });
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
            await wait(
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
      caseOf(
        `a write to another hub, ${changesPerSecond}/s, until it is heard here: two hops`,
        [
          { key: 'p50', title: 'median, µs', digits: 0, better: 'less' },
          { key: 'p99', title: 'p99, µs', digits: 0, better: 'less', targets: [{ atMost: 5000 }] },
          waitedMetric,
        ],
        () =>
          inDomain(options, folder, [deskFlow, { connections: {} }], async (hubs) => {
            const { port, pid } = hubs[1]!;
            const task = {
              port,
              serverPid: pid,
              address: levelAddress,
              sockets: 1,
              changesPerSecond,
              warmUpMs,
              measureMs,
            };
            const { p50, p99, waited } = await performTask<LatencyResult>('latency-load', task);
            return { p50: p50 * 1000, p99: p99 * 1000, waited };
          }),
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
