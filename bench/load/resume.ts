// Resume load: a client's link is killed again and again, at random moments while a writer keeps writing. Each time the hub reports the
// client's picture complete again, every value is checked against what was written up to that revision and, at intervals while the writer
// pauses, against what the hub returns over HTTP.

import { setTimeout as after } from 'node:timers/promises';
import { AskedHub } from '../../spec/support/asked-hub.ts';
import { parameterNumberOf } from '../../spec/support/load/many-parameters.ts';
import { PictureReader } from '../../spec/support/load/picture.ts';
import { Watch } from '../../spec/support/load/watch.ts';
import { percentile, sort, summarize } from '../../spec/support/statistics.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { Truth } from './received/truth.ts';
import { ResumingClient } from './sockets/resuming-client.ts';
import { RandomWriter } from './writes/random-writer.ts';

export interface ResumeTask {
  readonly port: number;
  readonly parameters: number;
  readonly kills: number;
  readonly changesPerSecond: number;
  /** Number of resumes between two comparisons of the picture with everything the hub returns over HTTP. */
  readonly compareEvery: number;
}

/** All figures of resumes are medians, except the 99th percentile. */
export interface ResumeResult {
  readonly snapshotBytes: number;
  readonly resumeBytes: number;
  readonly changed: number;
  readonly bytesPerChanged: number;
  readonly resumeMs: number;
  readonly resumeMs99: number;
  /** Number of links killed before the picture was complete. */
  readonly unfinished: number;
}

interface Resume {
  readonly bytes: number;
  readonly changed: number;
  readonly ms: number;
}

const tickMs = 1;
const deadlineMs = 20_000;
const longestLifeMs = 60;
const longestPauseMs = 100;
/** The fraction of links killed while resuming. */
const earlyShare = 0.2;
const longestEarlyMs = 4;

await runTask(async (task: ResumeTask): Promise<ResumeResult> => {
  const { port, parameters, changesPerSecond } = task;
  const watch = new Watch();
  const reader = new PictureReader();
  const client = new ResumingClient(port, parameters, reader, watch);
  const link = await client.connect();
  const snapshotBytes = await watch.within(link.complete, 'the first picture', deadlineMs);
  const truth = new Truth(parameters, client.known!.rev);
  client.judge = (revision, picture) => truth.differenceAt(revision, picture);
  const writer = await RandomWriter.open(port, parameters, reader, truth, watch);
  const writing = writer.write(changesPerSecond);
  const { resumes, unfinished } = await killAndResume(task, client, truth, watch, () =>
    writer.atRest(() => compare(task, client, truth, watch)),
  );
  writer.stop();
  await writing;
  client.kill();
  return { snapshotBytes, unfinished, ...figuresOf(resumes) };
});

/** Kills links until there have been enough resumes; calls `compareAtRest` after every `compareEvery` resumes and at the end. */
async function killAndResume(
  { kills, compareEvery }: ResumeTask,
  client: ResumingClient,
  truth: Truth,
  watch: Watch,
  compareAtRest: () => Promise<void>,
): Promise<{ readonly resumes: readonly Resume[]; readonly unfinished: number }> {
  const resumes: Resume[] = [];
  let unfinished = 0;
  while (resumes.length < kills) {
    await watch.pass(Math.random() * longestLifeMs);
    client.kill();
    await watch.pass(Math.random() * longestPauseMs);
    const from = client.known!.rev;
    const startedAt = performance.now();
    const link = await client.connect();
    if (Math.random() < earlyShare) {
      await after(Math.random() * longestEarlyMs);
      if (!link.isComplete) {
        unfinished++;
        continue;
      }
    }
    const bytes = await watch.within(link.complete, 'the end of a resume', deadlineMs);
    resumes.push({ bytes, changed: truth.changedBetween(from, link.completeAt), ms: link.completeMs - startedAt });
    if (resumes.length % compareEvery === 0 || resumes.length === kills) await compareAtRest();
  }
  return { resumes, unfinished };
}

/** Compares the picture with everything the hub returns, while nobody writes. */
async function compare({ port, parameters }: ResumeTask, client: ResumingClient, truth: Truth, watch: Watch) {
  const isCurrent = () => client.known!.rev >= truth.revision;
  await watch.untilSo(`revision ${truth.revision}`, isCurrent, { deadlineMs, everyMs: tickMs });
  const all = await new AskedHub(port).parameters();
  if (all.length !== parameters) throw new Error(`expected ${parameters} parameters, got ${all.length}`);
  for (const { parameter, value = 0 } of all) {
    const shown = client.picture[parameterNumberOf(parameter)];
    if (shown !== value) throw new Error(`the client shows ${shown} for ${parameter}, the hub tells ${value}`);
  }
}

function figuresOf(resumes: readonly Resume[]): Omit<ResumeResult, 'snapshotBytes' | 'unfinished'> {
  const median = (values: readonly number[]) => summarize(values).median;
  const full = resumes.filter(({ changed }) => changed > 0);
  return {
    resumeBytes: median(resumes.map(({ bytes }) => bytes)),
    changed: median(resumes.map(({ changed }) => changed)),
    bytesPerChanged: median(full.map(({ bytes, changed }) => bytes / changed)),
    resumeMs: median(resumes.map(({ ms }) => ms)),
    resumeMs99: percentile(sort(resumes.map(({ ms }) => ms)), 0.99),
  };
}
