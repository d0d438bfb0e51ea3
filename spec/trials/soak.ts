// npm run trial -- soak: soaks a hub for an hour. A thousand dashboards, of which one in 20 reads nothing for most of each minute, show
// parameters that change 50,000 times a second; a rule loops, another one fails, flow files are saved each minute, the process of a
// keyboard dies again and again, and in the middle the disk of the store is full. In the end the newest values have to be everywhere,
// also after a restart, memory has to be what it was after ten minutes, and no more files are open. It prints a table; exit status 1
// when anything does not hold.

import { onSmallDisk } from '../support/system/small-disk.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';
import { type Numbers, runScript, tell } from './script.ts';
import { mebibytes, mistakesOf, type Sample } from './soak/judge.ts';
import { type Soaked, soak } from './soak/run.ts';

const usage = `npm run trial -- soak [options]

  --minutes <n>     for how long (60)
  --dashboards <n>  how many there are (1000)
  --stalled <n>     how many of a hundred read nothing for 45 of each 60 seconds (5)
  --parameters <n>  how many parameters they show (1000)
  --changes <n>     how many changes a second there are (50000)
  --rate <n>        how many times a second a dashboard is sent something (10)
`;

const unless = { minutes: 60, dashboards: 1000, stalled: 5, parameters: 1000, changes: 50_000, rate: 10 };
const diskBytes = 64 * 1024 * 1024;

await runScript(usage, unless, run);

async function run(numbers: Numbers<keyof typeof unless>): Promise<number> {
  let soaked: Soaked | undefined;
  const work = async (folder: string, disk?: string) => {
    soaked = await soakAndTell(numbers, folder, disk);
    return [];
  };
  const done = await onSmallDisk({}, work, diskBytes);
  if ('reason' in done) {
    tell(`The disk is never full: ${done.reason}`);
    await inTemporaryFolder('soak', work);
  }
  const { counts, mark, end, hasKeyboard } = soaked!;
  const mistakes = [...soaked!.mistakes, ...mistakesOf(mark, end)];
  const { kicks, reloads, deaths, fullMs } = counts;
  tell('');
  tell(`${kicks} loops and failures, ${reloads} reloads, the disk full for ${(fullMs / 1000).toFixed(0)} s`);
  tell(hasKeyboard ? `the process of the keyboard died ${deaths} times` : 'no keyboard: it needs Xvfb');
  for (const [what, at] of Object.entries({ mark, end }))
    tell(
      `${what}, after ${at.minutes.toFixed(1)} minutes: ${mebibytes(at.residentBytes)} MiB resident, ${mebibytes(at.heapBytes)} MiB heap, ${at.descriptors} descriptors`,
    );
  for (const mistake of mistakes) tell(`**${mistake}**`);
  tell(mistakes.length === 0 ? 'All of it holds.' : `${mistakes.length} mistakes`);
  return mistakes.length === 0 ? 0 : 1;
}

function soakAndTell(numbers: Numbers<keyof typeof unless>, folder: string, disk: string | undefined): Promise<Soaked> {
  const { minutes, dashboards, stalled, parameters, changes, rate } = numbers;
  const lengthMs = minutes * 60_000;
  const cycleMs = Math.min(60_000, lengthMs / 4);
  let before: Sample | undefined;
  tell(
    '| minutes | from write to arrival p50, p99, ms | values/s shown | resident MiB | heap MiB | descriptors | hub busy, waited for a core, % |',
  );
  tell('|---:|---:|---:|---:|---:|---:|---:|');
  return soak({
    ...{ folder, disk, lengthMs, reloadMs: cycleMs },
    task: {
      ...{ dashboards, parameters, rate },
      stalled: Math.ceil((dashboards * stalled) / 100),
      stallMs: cycleMs * 0.75,
      readMs: cycleMs * 0.25,
      changesPerSecond: changes / parameters,
    },
    tell(sample, { p50, p99, values }) {
      const seconds = (sample.minutes - (before?.minutes ?? 0)) * 60;
      const share = (ms: number, was: number) => ((ms - was) / seconds / 10).toFixed(0);
      const worked = before && `${share(sample.busyMs, before.busyMs)}, ${share(sample.waitedMs, before.waitedMs)}`;
      const { residentBytes, heapBytes, descriptors } = sample;
      const cells = [
        ...[
          sample.minutes.toFixed(1),
          [p50, p99].map((ms) => ms?.toFixed(0) ?? 'none').join(', '),
          (values / seconds).toFixed(0),
        ],
        ...[mebibytes(residentBytes), mebibytes(heapBytes), descriptors, worked ?? ''],
      ];
      tell(`| ${cells.join(' | ')} |`);
      before = sample;
    },
  });
}
