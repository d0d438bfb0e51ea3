// npm run trial -- due: kills a hub while a TOF with two seconds left and a timer with ten are running, and checks that both end on time.
// In every other round the TOF falls due while the hub is down. Exit status 1 if one is too early or too late.

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { AskedHub } from '../../support/asked-hub.ts';
import { untilSo } from '../../support/deadline.ts';
import { createTemporaryFolder } from '../../support/folder.ts';
import { Random } from '../../support/random.ts';
import { defineTrial, notify } from '../trial.ts';
import { type KilledHub, startKilledHub } from './killed-hub.ts';

const options = {
  kills: ['the number of times that a hub is killed', 20, 1],
  tolerance: ['the maximum deviation of an end, in milliseconds', 300, 3000],
  seed: ['the seed for the times of the kills', 1],
  tof: ['the time that the TOF has left at the kill, in milliseconds', 2000, 300],
  timer: ['the time that the timer has left at the kill, in milliseconds', 10_000, 8000],
} as const;

export const trial = defineTrial({
  about: 'kills a hub while a TOF and a timer are running: both must end on time',
  options,
  run: (numbers, { isShort }) => run(numbers, isShort),
});

type Numbers = Readonly<Record<keyof typeof options, number>>;

async function run(
  { kills, tolerance: toleranceMs, seed, tof: tofMs, timer: timerMs }: Numbers,
  isShort: boolean,
): Promise<boolean> {
  const random = new Random(seed, 0);
  const results: DueResult[] = [];
  let failed = 0;
  for (let number = 1; number <= kills; number++) {
    const leadMs = 600 + random.below(2000);
    // Every other time the TOF falls due meanwhile; once it does for sure.
    const downMs = number % 2 === 0 || kills === 1 ? tofMs + 500 + random.below(2000) : 0;
    const result = await killWhileRunning({ tofMs, timerMs, leadMs, downMs, isQuick: isShort });
    results.push(result);
    const { tofLateMs, timerLateMs, fires } = result;
    const isInTime = [tofLateMs, timerLateMs].every((ms) => Math.abs(ms) <= toleranceMs) && fires === 1;
    if (!isInTime) failed++;
    if (!isInTime)
      notify(
        `kill ${number}: the TOF ended ${tofLateMs} ms late, the timer ${timerLateMs} ms; it fired ${fires} times`,
      );
  }
  const worst = (of: (result: DueResult) => number) => Math.max(...results.map((result) => Math.abs(of(result))));
  notify(
    `${kills} kills, ${failed} of them with a mistake; ${results.filter(({ wasDue }) => wasDue).length} TOFs fell due meanwhile; ` +
      `worst TOF ${worst(({ tofLateMs }) => tofLateMs)} ms, worst timer ${worst(({ timerLateMs }) => timerLateMs)} ms`,
  );
  return failed === 0;
}

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
