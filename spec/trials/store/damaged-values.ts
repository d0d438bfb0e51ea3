// Damages a database of values again and again, and starts a hub on each.

import { copyFile, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Hub, startHub } from '../../../lib/hub/index.ts';
import type { Origin } from '../../../lib/model/parameter.ts';
import type { Value } from '../../../lib/model/value.ts';
import { becomesSo } from '../../support/deadline.ts';
import { createTemporaryFolder } from '../../support/folder.ts';
import { silentLog } from '../../support/silent-log.ts';
import { whenClosed } from './damaged-records.ts';

const client: Origin = { kind: 'client', name: 'cuts' };
const written = -8;
const repairMs = 20_000;
const pollMs = 50;
const types = ['I', 'F', 'S'] as const;

export interface Started {
  readonly mistakes: readonly string[];
  readonly startMs: number;
  /** How many values are not there. */
  readonly lost: number;
}

export interface Cuts {
  /** How long the whole database is. */
  readonly bytes: number;
  /** Damages the database, starts a hub with it, has it write, and starts it again. `repair` comes before it writes. */
  start(damage: (path: string) => Promise<unknown>, repair?: (path: string) => Promise<unknown>): Promise<Started>;
  remove(): Promise<void>;
}

/** Prepares a database with so many values. */
export async function prepareCuts(parameters: number): Promise<Cuts> {
  const { path: folder, remove } = await createTemporaryFolder('cuts');
  const whole = join(folder, 'whole.db');
  const lines = Array.from({ length: parameters }, (_, index) => `p${index},${types[index % types.length]}`);
  const start = async (place: string) => {
    const flow = join(place, 'flow.json5');
    const connections = { store: { type: 'store', folder: 'data' }, desk: { type: 'dummy', parameters: lines } };
    await writeFile(flow, JSON.stringify({ connections }));
    return startHub({ paths: [flow], log: silentLog });
  };

  const hub = await start(folder);
  hub.turn(() => {
    for (let index = 0; index < parameters; index++) hub.write(`desk/p${index}`, keptIn(index), client);
  });
  await hub.stop();
  await whenClosed(join(folder, 'data'));
  await copyFile(join(folder, 'data', 'values.db'), whole);
  const { size: bytes } = await stat(whole);

  return {
    bytes,
    async start(damage, repair) {
      const place = await mkdtemp(join(folder, 'damaged-'));
      const data = join(place, 'data');
      const path = join(data, 'values.db');
      await mkdir(data);
      await copyFile(whole, path);
      await damage(path);
      const startedAt = performance.now();
      const damagedHub = await start(place);
      const startMs = performance.now() - startedAt;
      const { lost, mistakes } = await look(damagedHub, data, parameters);
      await repair?.(path);
      if (repair !== undefined && !(await isWellSoon(damagedHub))) mistakes.push(storeOf(damagedHub).reason);
      damagedHub.write('desk/p0', written, client);
      await damagedHub.stop();
      const next = await start(place);
      if (next.find('desk/p0')!.value !== written) mistakes.push('what was written afterwards is not there');
      await next.stop();
      await rm(place, { recursive: true, force: true, maxRetries: 10 });
      return { mistakes, startMs, lost };
    },
    remove,
  };
}

function keptIn(index: number): Value {
  return [7000 + index, index + 0.1, `the text of ${index}`][index % types.length]!;
}

/** What was lost was said, and nothing has another value than was written. */
async function look(hub: Hub, data: string, parameters: number) {
  const mistakes: string[] = [];
  let lost = 0;
  for (let index = 0; index < parameters; index++) {
    const { value } = hub.find(`desk/p${index}`)!;
    if (value === undefined) lost++;
    else if (value !== keptIn(index)) mistakes.push(`desk/p${index}: expected ${keptIn(index)}, got ${value}`);
  }
  const { state, reason } = storeOf(hub);
  const isReported = state === 'degraded' && reason.includes('lost');
  if (lost > 0 && !isReported) mistakes.push(`${lost} values are lost, and it is ${state}: ${reason}`);
  const isAside = (await readdir(data)).some((name) => name.startsWith('values.damaged-'));
  if (lost === parameters && !isAside) mistakes.push('the damaged file was not set aside');
  return { lost, mistakes };
}

function storeOf(hub: Hub) {
  return hub.connections().find(({ id }) => id === 'store')!;
}

/** Waits until the store writes again; returns whether it does. */
function isWellSoon(hub: Hub): Promise<boolean> {
  return becomesSo(() => !storeOf(hub).reason.includes('cannot write'), { deadlineMs: repairMs, everyMs: pollMs });
}
