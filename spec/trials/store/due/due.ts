// A hub that is killed while a TOF and a timer run, and when they end after it was started again.

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { AskedHub } from '../../../support/asked-hub.ts';
import { untilSo } from '../../../support/load/deadline.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';
import { type KilledHub, startKilledHub } from '../kills/killed-hub.ts';

/** What is left to run at the kill. */
export interface DueTask {
  readonly tofMs: number;
  readonly timerMs: number;
  /** How long they have run by then. */
  readonly leadMs: number;
  /** How long the hub is down, before its start begins. */
  readonly downMs: number;
  /** The hubs do not warm up. */
  readonly isQuick?: boolean;
}

/** How much later than it should have each of them has ended: at its time, or when the hub ran again where that was later. */
export interface DueResult {
  readonly tofLateMs: number;
  readonly timerLateMs: number;
  /** Whether the TOF fell due while the hub was down. */
  readonly wasDue: boolean;
  /** How often the timer has fired in all. */
  readonly fires: number;
}

const pollMs = 20;
const deadlineMs = 60_000;

export async function killWhileRunning({ tofMs, timerMs, leadMs, downMs, isQuick }: DueTask): Promise<DueResult> {
  const { path: folder, remove } = await createTemporaryFolder('due');
  const hubs: KilledHub[] = [];
  const start = async () => {
    const hub = await startKilledHub(folder, isQuick);
    hubs.push(hub);
    return hub;
  };
  try {
    await writeFile(join(folder, 'flow.json5'), JSON.stringify(flowOf(tofMs + leadMs)));
    const before = await start();
    for (const [address, value] of [
      ['desk/mic', true],
      ['desk/mic', false],
      ['clock/timer/1/start', timerMs + leadMs],
    ] as const)
      await new AskedHub(before.port).set(address, value);
    const [micAt, timerAt] = [(await lastOf(before, 'desk/mic')).at, (await lastOf(before, 'clock/timer/1/start')).at];
    await after(micAt + leadMs - Date.now());
    before.process.kill('SIGKILL');
    await once(before.process, 'exit');
    await after(downMs);

    const hub = await start();
    const runsAt = Date.now();
    const light = await untilRestarted(hub, 'desk/light');
    const rang = await untilRestarted(hub, 'desk/rang');
    const tofDueAt = micAt + tofMs + leadMs;
    return {
      tofLateMs: latenessOf(light.at, tofDueAt, runsAt),
      timerLateMs: latenessOf(rang.at, timerAt + timerMs + leadMs, runsAt),
      wasDue: tofDueAt < runsAt,
      fires: Number(rang.value),
    };
  } finally {
    for (const hub of hubs) hub.process.kill('SIGKILL');
    await remove();
  }
}

/** What fell due before the hub said that it runs may end at any moment up to then. */
function latenessOf(endedAt: number, dueAt: number, runsAt: number): number {
  return dueAt < runsAt ? Math.max(0, endedAt - runsAt) : endedAt - dueAt;
}

function flowOf(pt: number): object {
  return {
    connections: {
      api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
      store: { type: 'store', folder: 'data' },
      desk: { type: 'dummy', parameters: ['mic,B,false', 'light,B,false', 'rang,I,0'] },
      clock: { type: 'timer' },
      core: { type: 'virtual-core', inputs: { mic: 'desk/mic' }, outputs: { red: { block: 'TOF', in: 'mic', pt } } },
    },
    rules: [
      { name: 'light', from: 'core/red', to: 'desk/light' },
      { name: 'rang', from: 'clock/timer/1/trigger', map: "param('desk/rang') + 1", to: 'desk/rang' },
    ],
  };
}

/** Waits until a parameter was set by a rule in this life of the hub. */
async function untilRestarted(hub: KilledHub, address: string) {
  let last!: Awaited<ReturnType<typeof lastOf>>;
  const isSetByRule = async () => {
    last = await lastOf(hub, address);
    return last.kind === 'rule';
  };
  await untilSo(`${address} to be set`, isSetByRule, { deadlineMs, everyMs: pollMs });
  return last;
}

async function lastOf({ port }: KilledHub, address: string) {
  const { chain } = await new AskedHub(port).explain(address);
  const { value, time, origin } = chain[0]!;
  return { value, kind: origin.kind, at: Date.parse(time) };
}
