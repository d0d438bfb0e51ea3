// A pair of hubs, one of which holds the lease: it keeps the lease whatever the clock of either shows.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { DomainStatus } from '../../../lib/model/reports/domain-status.ts';
import { untilSo } from '../../support/deadline.ts';
import { startNats } from '../../support/nats/servers.ts';
import { SettableClock, type SettableHub, startSettableHub } from './settable-hub.ts';

/** Twice as long as a lease that is not renewed lasts. */
const wrongForMs = 8000;

interface Member {
  readonly name: string;
  readonly clock: SettableClock;
  readonly hub: SettableHub;
}

/** Sets the clock of one, then that of the other, each time for seconds; resolves with what did not hold. */
export async function setClocksOfPair(folder: string, times: readonly number[]): Promise<readonly string[]> {
  const nats = await startNats();
  const members: Member[] = [];
  const mistakes: string[] = [];
  try {
    for (const name of ['main', 'standby']) members.push(await startMember(join(folder, name), name, nats.urls));
    const statuses = () => Promise.all(members.map(statusOf));
    const hasHolder = async () => (await statuses()).some(({ role }) => role === 'main');
    await untilSo('one of them to have the lease', hasHolder, { deadlineMs: 60_000, everyMs: 200 });
    const roles = async () => (await statuses()).map(({ role, lease }) => `${role} in term ${lease.term}`).join(', ');
    await after(3000);
    const before = await roles();
    for (const { name, clock } of members)
      for (const byMs of times) {
        await clock.set(byMs);
        const endMs = performance.now() + wrongForMs;
        while (performance.now() < endMs && (await roles()) === before) await after(100);
        await clock.set(0);
        await after(1500);
        const now = await roles();
        if (now !== before) mistakes.push(`${name} with a clock that is ${byMs} ms wrong: ${before} became ${now}`);
      }
  } finally {
    for (const { hub } of members) hub.process.kill('SIGKILL');
    await nats.end();
  }
  return mistakes;
}

async function startMember(folder: string, name: string, servers: readonly string[]): Promise<Member> {
  await mkdir(folder);
  const flow = {
    connections: {
      api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
      house: { type: 'nats', servers, domain: 'clock', hub: 'studio', pair: true },
      desk: { type: 'dummy', parameters: ['lamp,B,false'] },
    },
  };
  await writeFile(join(folder, 'flow.json5'), JSON.stringify(flow));
  const clock = new SettableClock(folder);
  await clock.set(0);
  return { name, clock, hub: await startSettableHub(folder, clock) };
}

async function statusOf({ hub: { port } }: Member): Promise<DomainStatus> {
  const answer = await fetch(`http://127.0.0.1:${port}/hub/hubs`, { headers: { connection: 'close' } });
  return (await answer.json()) as DomainStatus;
}
