// npm run trial -- shadow: records an hour of a studio, and replays it with each of many changes of a rule, both in shadow and live. Exit
// status 1 if the shadow reports other differences than those that occur live, or if a replay is not reproducible.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkFlowFiles } from '../../../lib/flow/check/check.ts';
import type { Plan } from '../../../lib/flow/plan.ts';
import { Hub, simulated } from '../../../lib/hub/index.ts';
import { dependencyClosureOf, ShadowRun } from '../../../lib/hub/shadow/shadow-run.ts';
import type { Deviations } from '../../../lib/hub/twin/deviations.ts';
import { formatMistake, MistakeList } from '../../../lib/json5/mistake.ts';
import type { Change, Origin } from '../../../lib/model/parameter.ts';
import { openRecording, replay, replayTurn, startSide } from '../../../lib/replay/replay.ts';
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts';
import { encodeLine } from '../../../lib/wire/recording.ts';
import { connectionTypes } from '../../support/connection-types.ts';
import { inTemporaryFolder } from '../../support/folder.ts';
import { Random } from '../../support/random.ts';
import { silentLog } from '../../support/silent-log.ts';
import { defineTrial, notify } from '../trial.ts';
import { compareAtPage } from './page.ts';
import { changes, nextWrites, studioWith } from './studio.ts';

const parts = {
  replay: { about: 'a recorded hour of a studio, replayed with each of many changes', run: compareReplays },
  page: {
    about: 'random changes in the rule sheet in a browser, tried in shadow and then applied',
    run: ({ rounds, first, seed, played, seconds }: Options) =>
      compareAtPage({ rounds, first, seed, playedMs: played * 60_000, deadlineMs: seconds * 1000 }),
  },
};

export const trial = defineTrial({
  about:
    'checks that a changed rule in shadow shows the differences that occur when it is live, in a recorded hour and on the page',
  options: {
    minutes: ['how long the studio is recorded, in minutes', 60, 2],
    seed: ['the seed for what happens in the studio', 1, 7],
    each: ['tries only every n-th change of a rule', 1, 3],
    rounds: ['the number of changes on the page', 100, 2],
    first: ['the number of the first of these changes', 0],
    played: ['how long the studio then runs, in shadow and live, in minutes', 5, 2],
    seconds: ['the time limit for something to appear on the page, in seconds', 30, 60],
  },
  parts: { all: parts, short: ['replay', 'page'] },
  async run(options, { parts: chosen }) {
    let isHeld = chosen.length > 0;
    for (const [, part] of chosen) isHeld = (await part.run(options)) && isHeld;
    return isHeld;
  },
});

interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly each: number;
  readonly rounds: number;
  readonly first: number;
  readonly played: number;
  readonly seconds: number;
}

function compareReplays({ minutes, seed, each }: Options): Promise<boolean> {
  return inTemporaryFolder('shadow', async (folder) => {
    const recorded = await recordStudio(seed, minutes * 60_000, folder);
    notify(`${recorded.changes.length} changes in ${minutes} minutes`);
    notify('| rule | changed to | deviations | time of four replays | |\n|---|---|---|---|---|');
    let failed = 0;
    let all = 0;
    for (const change of changes.filter((_, index) => index % each === 0)) {
      const startMs = performance.now();
      const { deviations, difference } = await compareChange(recorded, change);
      if (difference !== undefined) failed++;
      all += deviations;
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      notify(
        `| ${change[0]} | ${JSON.stringify(change[1] ?? 'nothing')} | ${deviations} | ${seconds} s | ${difference ?? 'the same in shadow'} |`,
      );
    }
    if (all === 0) notify('no change of a rule has changed anything');
    return failed === 0 && all > 0;
  });
}

const by: Origin = { kind: 'client', name: 'studio' };
/** So long after its start the studio is at rest, and the recording begins. */
const restedMs = 180_000;
/** The studio starts before its schedule opens. */
const startMs = Date.UTC(2026, 10, 23, 4, 50);

export interface RecordedStudio {
  readonly path: string;
  /** Every change while it was recorded: `1200 desk/lamp=true`. */
  readonly changes: readonly string[];
}

/** Runs the studio for so long, after some minutes that are not recorded, and records it in a file. */
export async function recordStudio(seed: number, lastsMs: number, folder: string): Promise<RecordedStudio> {
  const clock = new VirtualClock();
  const epochMs = startMs;
  const plan = planOf(studioWith([undefined, undefined]));
  const hub = await Hub.run(
    { ...plan, connections: plan.connections.map(simulated) },
    { log: silentLog, scheduler: clock, now: () => epochMs + clock.now() },
  );
  const random = new Random(seed, 0);
  const happen = (untilMs: number) => {
    for (;;) {
      const { afterMs, writes } = nextWrites(random);
      if (clock.now() + afterMs >= untilMs) break;
      clock.advanceTo(clock.now() + afterMs);
      hub.turn(() => {
        for (const [address, value] of writes) hub.write(address, value, by);
      });
    }
    clock.advanceTo(untilMs);
  };
  happen(60_000);
  for (const address of ['desk/mic1', 'desk/mic2', 'desk/on-air']) hub.write(address, false, by);
  clock.advanceTo(restedMs); // what blocks of the core have under way is no part of a recording
  const lines: string[] = [];
  const changes: string[] = [];
  const recording = hub.record(({ atMs, writes }) => {
    lines.push(
      encodeLine({
        t: atMs,
        w: writes.map(({ address, value, origin: { kind, name } }) => [address, value, kind, name]),
      }),
    );
  });
  const values = [...hub.changedSince(0)].map(({ address, value }) => encodeLine({ p: address, v: value! }));
  const start = encodeLine({ recording: 1, hub: hub.version, time: recording.time, values: values.length });
  const subscription = hub.changes$.subscribe((change) => changes.push(lineOf(change, recording.time)));
  happen(restedMs + lastsMs);
  lines.push(encodeLine({ t: recording.elapsedMs(), w: [] }));
  subscription.unsubscribe();
  recording.stop();
  await hub.stop();
  const path = join(folder, 'studio.recording');
  await writeFile(path, [start, ...values, ...lines].join(''));
  return { path, changes };
}

/** What does not hold for a change; undefined: all does. `deviations`: how many it makes. */
export async function compareChange(
  { path, changes: recorded }: RecordedStudio,
  change: (typeof changes)[number],
): Promise<{ deviations: number; difference: string | undefined }> {
  const flows = planOf(studioWith([undefined, undefined]));
  const changed = planOf(studioWith(change));
  const live = await replay(await openRecording(path), flows, changed);
  const made = textsOf(live.deviations);
  const again = textsOf((await replay(await openRecording(path), flows, changed)).deviations);
  const { would, changes } = await replayInShadow(path, flows, changed);
  const found: [string, readonly string[], readonly string[]][] = [
    ['the second time', made, again],
    ['in shadow', made, would],
    ['the replay of what was recorded', knownOf(recorded), knownOf(changes)],
  ];
  const difference = found.flatMap(([what, one, other]) => {
    const at = one.findIndex((line, index) => line !== other[index]);
    if (at < 0 && one.length === other.length) return [];
    const place = at < 0 ? one.length : at;
    return [`${what}: ${one.length} and ${other.length}, at ${place}: ${one[place]} and ${other[place]}`];
  });
  return { deviations: made.length, difference: difference[0] };
}

/** The same in a single hub, with the changed rule in shadow. */
async function replayInShadow(
  path: string,
  flows: Plan,
  changed: Plan,
): Promise<{ would: string[]; changes: string[] }> {
  const { start, values, turns } = await openRecording(path);
  const changes: string[] = [];
  const side = startSide(flows, flows, { time: start.time, values }, (graph) => {
    graph.changes$.subscribe((change) => changes.push(lineOf(change, start.time)));
  });
  const closure = dependencyClosureOf(flows, changed)!;
  const run = new ShadowRun(
    closure,
    {
      graph: side.twin.graph,
      scheduler: side.clock,
      log: silentLog,
      memoriesOf: side.twin.memoriesOf,
      isVirtual: true,
    },
    1_000_000,
  );
  for await (const turn of turns) replayTurn(side, turn);
  run.deviations.endMoments(Number.POSITIVE_INFINITY);
  const would = textsOf(run.deviations);
  run.stop();
  await side.twin.stop();
  return { would, changes };
}

function planOf(data: object): Plan {
  const mistakes = new MistakeList();
  const file = { name: 'studio', folder: '.', data, positionOf: () => undefined };
  const plan = checkFlowFiles([file], connectionTypes, mistakes);
  if (mistakes.items.length > 0) throw new Error(mistakes.items.map(formatMistake).join('\n'));
  return plan;
}

function lineOf({ parameter, value, time }: Change, since: number): string {
  return `${time - since} ${parameter.address}=${value}`;
}

/** In the order of time, and of addresses within a moment. */
function textsOf(deviations: Deviations): string[] {
  return deviations
    .list()
    .map(({ time, address, done, would }) => `${time} ${address}: ${done.value}, would be ${would.value}`)
    .sort();
}

/**
 * What a replay must make again. What a block of the core had come to when the recording began is no part of a recording. Nor is the
 * order within a moment: a timer and a pulse that end in the same millisecond may come in another one.
 */
function knownOf(lines: readonly string[]): string[] {
  return lines.filter((line) => !line.includes('/elapsed=')).sort();
}
