// A database of values that is cut again and again, and the hub that is started on each.

import { copyFile, mkdir, mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Hub, startHub } from '../../lib/hub.ts';
import type { Origin } from '../../lib/model/parameter.ts';
import { silentLog } from '../load/silent-log.ts';

const client: Origin = { kind: 'client', name: 'cuts' };
const [kept, written] = [7, 8];

export interface Cuts {
  /** How long the whole database is. */
  readonly bytes: number;
  /** Cuts the database to a length, and starts a hub with it. */
  cut(length: number): Promise<{ readonly mistakes: readonly string[]; readonly startMs: number }>;
  remove(): Promise<void>;
}

/** Prepares a database with so many values. */
export async function prepareCuts(parameters: number): Promise<Cuts> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-cuts-'));
  const whole = join(folder, 'whole.db');
  const data = join(folder, 'data');
  const path = join(data, 'values.db');
  const flow = join(folder, 'flow.json5');
  const lines = Array.from({ length: parameters }, (_, index) => `p${index},I`);
  const connections = { store: { type: 'store', folder: 'data' }, desk: { type: 'dummy', parameters: lines } };
  await writeFile(flow, JSON.stringify({ connections }));
  const start = () => startHub({ paths: [flow], log: silentLog });

  const hub = await start();
  hub.turn(() => {
    for (let index = 0; index < parameters; index++) hub.write(`desk/p${index}`, kept, client);
  });
  await hub.stop();
  await copyFile(path, whole);
  const { size: bytes } = await stat(whole);

  return {
    bytes,
    async cut(length) {
      await rm(data, { recursive: true });
      await mkdir(data);
      await copyFile(whole, path);
      await truncate(path, length);
      const startedAt = performance.now();
      const cutHub = await start();
      const startMs = performance.now() - startedAt;
      const mistakes = await look(cutHub, data, parameters);
      await cutHub.stop();
      const next = await start();
      if (next.find('desk/p0')!.value !== written) mistakes.push('what was written afterwards is not there');
      await next.stop();
      return { mistakes, startMs };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What was lost was said, and what is damaged set aside; what is new is kept. */
async function look(hub: Hub, data: string, parameters: number): Promise<string[]> {
  const mistakes: string[] = [];
  let lost = 0;
  for (let index = 0; index < parameters; index++) if (hub.find(`desk/p${index}`)!.value !== kept) lost++;
  const { state, reason } = hub.connections().find(({ id }) => id === 'store')!;
  const isTold = state === 'degraded' && reason.includes('lost');
  if (lost > 0 && !isTold) mistakes.push(`${lost} values are lost, and it is ${state}: ${reason}`);
  const isAside = (await readdir(data)).some((name) => name.startsWith('values.damaged-'));
  if (isTold && !isAside) mistakes.push('the damaged file was not set aside');
  hub.write('desk/p0', written, client);
  return mistakes;
}
