// Hubs of one domain and their NATS server, all of them processes of their own, as the subjects of many hubs need them.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AskedHub } from '../../spec/support/asked-hub.ts';
import { untilSo } from '../../spec/support/deadline.ts';
import { type ServerProcess, startHub, startProgram } from '../../spec/support/system/task-process.ts';
import type { Options } from '../harness/options.ts';

const settleDeadlineMs = 30_000;
const lookEveryMs = 50;

/** The connections of one hub of a flow. */
export interface Flow {
  readonly connections: Record<string, unknown>;
}

/** What a hub holds of the parameters that are shared, by address. */
export async function valuesOf({ port }: ServerProcess): Promise<string> {
  const parameters = await new AskedHub(port).parameters();
  const values = parameters.flatMap(({ parameter, value }) =>
    parameter.startsWith('hub/') ? [] : [`${parameter}=${value}`],
  );
  return JSON.stringify(values.sort());
}

/** Waits until a question is answered with yes. Errors: when that takes too long. */
export function waitFor(what: string, ask: () => Promise<boolean>): Promise<void> {
  return untilSo(what, ask, { deadlineMs: settleDeadlineMs, everyMs: lookEveryMs });
}

/** Runs work with a server of NATS and hubs of one domain, the first of which knows nobody yet, and ends them. */
export async function inDomain<Result>(
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
    await waitFor(
      'the same parameters at all hubs',
      async () => new Set(await Promise.all(hubs.map(valuesOf))).size === 1,
    );
    return await work(hubs);
  } finally {
    for (const one of running.reverse()) await one.stop().catch(() => {});
  }
}
