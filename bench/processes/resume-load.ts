// Load of resuming: the link of a client is killed again and again, at random moments while a writer goes on. Each time that its
// picture is told to be complete again it is checked, value by value, against what was written up to that revision; and with
// the writer held still, against what the hub tells over HTTP.

import { setTimeout as after } from 'node:timers/promises';
import { within } from '../load/deadline.ts';
import { connectionId, parameterNumberOf } from '../load/many-parameters.ts';
import { PictureReader } from '../load/picture.ts';
import { Truth } from '../load/truth.ts';
import { openV1Socket, type V1Socket } from '../load/v1-socket.ts';
import { percentile, sort } from '../statistics.ts';
import { runTask } from './task.ts';

export interface ResumeTask {
  readonly port: number;
  readonly parameters: number;
  readonly kills: number;
  readonly changesPerSecond: number;
  /** After how many resumes the picture is compared with all that the hub tells over HTTP. */
  readonly compareEvery: number;
}

/** Figures of resumes are medians. */
export interface ResumeResult {
  readonly snapshotBytes: number;
  readonly resumeBytes: number;
  readonly changed: number;
  readonly bytesPerChanged: number;
  readonly resumeMs: number;
  readonly resumeMs99: number;
  /** How many links were killed before the picture was complete. */
  readonly unfinished: number;
}

const tickMs = 1;
const deadlineMs = 20_000;
const longestLifeMs = 60;
const longestPauseMs = 100;
/** So many links are killed while they resume. */
const earlyShare = 0.2;
const longestEarlyMs = 4;

await runTask(async ({ port, parameters, kills, changesPerSecond, compareEvery }: ResumeTask) => {
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const reader = new PictureReader();
  const picture = new Float64Array(parameters);
  /** Where the client was when its picture was complete last. */
  let known: { epoch: string; rev: number } | undefined;
  const resumes: { bytes: number; changed: number; ms: number }[] = [];

  const first = await connect();
  const snapshotBytes = await first.complete;
  const truth = new Truth(parameters, known!.rev);
  const writer = await openV1Socket(port, onAck, (reason) => fail(new Error(reason)));
  let acknowledged: (() => void) | undefined;
  let isWriting = true;
  const writing = write();
  let link = first;
  let unfinished = 0;
  while (resumes.length < kills) {
    await Promise.race([after(Math.random() * longestLifeMs), failed]);
    link.kill();
    await Promise.race([after(Math.random() * longestPauseMs), failed]);
    const from = known!.rev;
    const startedAt = performance.now();
    link = await connect();
    if (Math.random() < earlyShare) {
      await after(Math.random() * longestEarlyMs);
      if (!link.isComplete) {
        unfinished++;
        continue;
      }
    }
    const bytes = await Promise.race([within(deadlineMs, 'the end of a resume', link.complete), failed]);
    resumes.push({ bytes, changed: truth.changedBetween(from, link.completeAt), ms: link.completeMs - startedAt });
    if (resumes.length % compareEvery === 0 || resumes.length === kills) await compareAtRest();
  }
  isWriting = false;
  await writing;
  link.kill();
  const median = (values: readonly number[]) => percentile(sort(values), 0.5);
  const full = resumes.filter(({ changed }) => changed > 0);
  return {
    snapshotBytes,
    resumeBytes: median(resumes.map(({ bytes }) => bytes)),
    changed: median(resumes.map(({ changed }) => changed)),
    bytesPerChanged: median(full.map(({ bytes, changed }) => bytes / changed)),
    resumeMs: median(resumes.map(({ ms }) => ms)),
    resumeMs99: percentile(sort(resumes.map(({ ms }) => ms)), 0.99),
    unfinished,
  } satisfies ResumeResult;

  /** Opens a link; `complete` resolves to the bytes that came until the picture was. */
  async function connect() {
    const { promise: complete, resolve } = Promise.withResolvers<number>();
    const link = { complete, isComplete: false, completeAt: 0, completeMs: 0, kill };
    const since = known;
    let isKilled = false;
    let next = 0;
    let epoch = '';
    const socket: V1Socket = await openV1Socket(port, take, (reason) => isKilled || fail(new Error(reason)));
    socket.send({ sub: 1, include: [`${connectionId}/**`], ...(since && { since }) });
    return link;

    function kill(): void {
      isKilled = true;
      socket.socket.resetAndDestroy();
    }

    function take(payload: Buffer): void {
      const place = reader.cache.find(payload, next);
      next = place + 1;
      const { hello, mode, parameters: changed, values, rev, end } = reader.cache.parsedAt(place);
      if (hello !== undefined) epoch = hello.epoch;
      if (mode !== undefined && mode !== (since ? 'resume' : 'snapshot'))
        throw new Error(`expected a resume, got ${mode}`);
      for (const [index, parameter] of changed.entries()) picture[parameter] = values[index]!;
      if (end !== undefined) {
        link.isComplete = true;
        link.completeAt = rev!;
        link.completeMs = performance.now();
        const difference = since && truth.differenceAt(rev!, picture);
        if (difference !== undefined) throw new Error(difference);
        resolve(socket.receivedBytes());
      }
      if (link.isComplete && rev !== undefined) known = { epoch, rev };
    }
  }

  /** Writes random parameters, evenly, one after the other. */
  async function write(): Promise<void> {
    let lastMs = performance.now();
    while (isWriting) {
      await after(tickMs);
      if (acknowledged !== undefined) {
        lastMs = performance.now();
        continue; // held still
      }
      const count = Math.floor(((performance.now() - lastMs) * changesPerSecond) / 1000);
      lastMs += (count * 1000) / changesPerSecond;
      const set = Array.from({ length: count }, () => {
        const parameter = Math.floor(Math.random() * parameters);
        return [reader.idOf(parameter), truth.write(parameter)] as const;
      });
      if (count > 0) writer.send({ set });
    }
  }

  function onAck(payload: Buffer): void {
    if (reader.cache.parsedAt(reader.cache.find(payload, 0)).ack !== undefined) acknowledged?.();
  }

  /** Holds the writer still and compares the picture with all that the hub tells. */
  async function compareAtRest(): Promise<void> {
    const { promise: written, resolve } = Promise.withResolvers<void>();
    acknowledged = resolve;
    writer.send({ set: [], ack: truth.writes });
    await Promise.race([within(deadlineMs, 'an acknowledgement', written), failed]);
    const untilCurrent = async () => {
      while (known!.rev < truth.revision) await after(tickMs);
    };
    await Promise.race([within(deadlineMs, `revision ${truth.revision}`, untilCurrent()), failed]);
    const response = await fetch(`http://127.0.0.1:${port}/hub/parameters`);
    const all = (await response.json()) as readonly { parameter: string; value?: number }[];
    if (all.length !== parameters) throw new Error(`expected ${parameters} parameters, got ${all.length}`);
    for (const { parameter, value = 0 } of all) {
      const shown = picture[parameterNumberOf(parameter)];
      if (shown !== value) throw new Error(`the client shows ${shown} for ${parameter}, the hub tells ${value}`);
    }
    acknowledged = undefined;
  }
});
