// A hub to be killed, run as its users run it.

import type { ChildProcess } from 'node:child_process';
import { type FileHandle, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { createTemporaryFolder, type TemporaryFolder, thisTree } from '../../support/folder.ts';
import { type LogEntry, startHubOn } from '../../support/system/task-process.ts';

export interface KilledHub {
  readonly process: ChildProcess;
  readonly port: number;
  /** From the start of the process until the hub reports that it runs. */
  readonly startMs: number;
  /** The part of that time spent on restoring the values. */
  readonly restoreMs: number;
  /** Warnings and errors of its log, but for the one that it was killed, and those that the disk is slow, which it cannot help. */
  readonly complaints: readonly string[];
}

const warning = 40;
/** What the log of a hub with a store begins with after a kill. */
const afterKill = 'the hub was restarted: ';
const ofSlowDisk = ': the disk is slow';

/** Starts the flow of a folder; a hub that is quick does not warm up. Errors: when it does not come to run. */
export async function startKilledHub(folder: string, isQuick = false): Promise<KilledHub> {
  const startedAt = performance.now();
  const complaints: string[] = [];
  let restoreMs = Number.NaN;
  const onEntry = ({ level, msg, ms }: LogEntry) => {
    if (level >= warning && !msg.startsWith(afterKill) && !msg.endsWith(ofSlowDisk)) complaints.push(msg);
    if (msg.startsWith('restored ')) restoreMs = ms!;
  };
  const options = { hubFolder: thisTree, isQuick, args: ['--no-watch'] };
  const { process, port } = await startHubOn(join(folder, 'flow.json5'), options, [], onEntry);
  return { process, port, startMs: performance.now() - startedAt, restoreMs, complaints };
}

/** A round of load has so many values of its own. */
export const roundValues = 1_000_000;

export const placeholders = ['A', 'B', 'C', 'D', 'E'];

/** Creates a folder with the flow file; the store and the XML file come to be in it too. */
export async function createKilledFolder(parameters: number): Promise<TemporaryFolder> {
  const folder = await createTemporaryFolder('kills');
  await writeFile(join(folder.path, 'flow.json5'), JSON.stringify(flowOf(parameters)));
  return folder;
}

/** What a rule has written into `fired` is not kept: what is known there after a start was fired by it. */
function flowOf(parameters: number): object {
  const ids = Array.from({ length: parameters }, (_, index) => `p${index}`);
  const texts = placeholders.map((name) => `<${name.toLowerCase()}>$${name}</${name.toLowerCase()}>`);
  return {
    connections: {
      api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
      store: { type: 'store', folder: 'data', values: { exclude: ['fired/**'] } },
      desk: { type: 'dummy', parameters: ids.map((id) => `${id},I,0`) },
      fired: { type: 'dummy', parameters: [...ids, ...placeholders].map((id) => `${id},S`) },
      file: { type: 'xml-file-output', filename: 'out.xml', template: `<all>${texts.join('')}</all>` },
    },
    rules: [
      ...ids.map((id) => ({ name: `rule of ${id}`, from: `desk/${id}`, to: `fired/${id}` })),
      ...placeholders.map((name) => ({ name: `rule of ${name}`, from: `file/${name}`, to: `fired/${name}` })),
    ],
  };
}

const page = Buffer.alloc(4096, 1);
const pauseMs = 20;

export class DiskProbe {
  readonly #file: FileHandle;
  #slowestMs = 0;
  #begunAt = Number.NaN;
  #isStopped = false;
  readonly #asking: Promise<void>;

  private constructor(file: FileHandle) {
    this.#file = file;
    this.#asking = this.#ask();
  }

  /** Begins to ask the disk that a folder is on. */
  static async start(folder: string): Promise<DiskProbe> {
    return new DiskProbe(await open(join(folder, 'probe'), 'w'));
  }

  /** How long it has taken at most since the last call, in milliseconds, with what it has not answered yet. */
  takeSlowestMs(): number {
    const slowestMs = Math.max(this.#slowestMs, performance.now() - this.#begunAt || 0);
    this.#slowestMs = 0;
    return slowestMs;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#asking;
    await this.#file.close();
  }

  async #ask(): Promise<void> {
    while (!this.#isStopped) {
      this.#begunAt = performance.now();
      await this.#file.write(page, 0, page.length, 0);
      await this.#file.datasync();
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - this.#begunAt);
      this.#begunAt = Number.NaN;
      await after(pauseMs);
    }
  }
}
