// npm run trial -- misbehave: saves a TypeScript flow that misbehaves, in every known way, into a running hub beside a client that makes
// 2,000 changes a second, and prints a Markdown table. Exit status 1 if the client lost a change, the log did not name the flow, or the
// next good save did not take effect in time.

import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../../lib/model/error.ts';
import { within } from '../../support/deadline.ts';
import { createTemporaryFolder, thisTree } from '../../support/folder.ts';
import { type LogEntry, startHubOn } from '../../support/system/task-process.ts';
import { defineTrial, notify } from '../trial.ts';
import { desk, flowOf, furtherFiles, type Parts, step } from './flow.ts';
import { Load } from './load.ts';
import { type Way, ways } from './ways.ts';

export const trial = defineTrial({
  about: 'saves TypeScript flows that misbehave in every known way; a flow that runs beside them must not be affected',
  options: {
    changes: ['the number of changes per second that the other flow makes', 2000, 200],
    next: ['the time limit for the next valid save to take effect, in milliseconds', 300, 20_000],
    hub: ['the source tree of the tested hub', thisTree],
  },
  parts: { all: ways, short: ['throws', 'throws-in-the-stream', 'emits-what-is-no-value'] },
  run: ({ changes: changesPerSecond, next, hub }, { parts }) =>
    misbehave(parts, { changesPerSecond, hubFolder: resolve(hub) }, next),
});

/** Tries the ways on one hub, and on another one after each that was not well. */
async function misbehave(
  chosen: readonly (readonly [string, Way])[],
  options: Omit<MisbehaviourOptions, 'folder'>,
  nextMs: number,
): Promise<boolean> {
  notify('| way | changes of the neighbour, longest gap | next good save | told | |');
  notify('|---|---|---|---|---|');
  let failed = 0;
  let hub: { misbehaviour: Misbehaviour; remove: () => Promise<void> } | undefined;
  const end = async (work: (misbehaviour: Misbehaviour) => unknown) => {
    const last = hub;
    hub = undefined;
    if (last === undefined) return;
    await work(last.misbehaviour);
    await last.remove();
  };
  try {
    for (const [name, way] of chosen) {
      hub ??= await startIn(options);
      if (await isWell(name, way, hub.misbehaviour, nextMs)) continue;
      failed++;
      await end((misbehaviour) => misbehaviour.kill());
    }
    await end((misbehaviour) => misbehaviour.stop());
  } finally {
    await end((misbehaviour) => misbehaviour.kill());
  }
  return failed === 0;
}

async function startIn(options: Omit<MisbehaviourOptions, 'folder'>) {
  const { path: folder, remove } = await createTemporaryFolder('misbehave');
  try {
    return { remove, misbehaviour: await Misbehaviour.start({ ...options, folder }) };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function isWell(name: string, way: Way, misbehaviour: Misbehaviour, nextMs: number): Promise<boolean> {
  try {
    const result = await misbehaviour.run(way);
    const isInTime = result.nextMs <= nextMs;
    const neighbour = way.ends ? 'the process ends' : `${result.heard}, ${result.longestGapMs.toFixed(0)} ms`;
    const reported = (result.reported || 'nothing to tell').slice(0, 160).replaceAll('|', '\\|');
    const mistake = `**expected the next good save within ${nextMs} ms**`;
    notify(
      `| ${name} | ${neighbour} | ${result.nextMs.toFixed(0)} ms | ${reported} | ${isInTime ? 'holds' : mistake} |`,
    );
    return isInTime;
  } catch (error) {
    notify(`| ${name} | | | | **${messageOf(error)}** |`);
    return false;
  }
}

export interface MisbehaviourResult {
  /** What the log said of it. */
  readonly reported: string;
  /** The number of changes the neighbour received meanwhile, and its longest gap; none if the process ends. */
  readonly heard: number;
  readonly longestGapMs: number;
  /** From the next good save until it takes effect. */
  readonly nextMs: number;
}

export interface MisbehaviourOptions {
  /** An empty folder. */
  readonly folder: string;
  readonly hubFolder: string;
  readonly changesPerSecond: number;
}

/** The delay from the log entry to the next save. */
const readMs = 1000;
/** How long a flow runs that does no harm. */
const harmlessMs = 2500;

export class Misbehaviour {
  readonly #options: MisbehaviourOptions;
  #hub!: LoggingHub;
  #load!: Load;
  #plus = 0;

  /** Starts a hub with a flow that is well. */
  static async start(options: MisbehaviourOptions): Promise<Misbehaviour> {
    const { folder, hubFolder } = options;
    await writeFile(join(folder, 'flow.json5'), JSON.stringify(desk));
    for (const [name, text] of Object.entries(furtherFiles)) await writeFile(join(folder, name), text);
    await symlink(join(hubFolder, 'node_modules'), join(folder, 'node_modules'));
    const misbehaviour = new Misbehaviour(options);
    await misbehaviour.#save({});
    await misbehaviour.#start();
    return misbehaviour;
  }

  private constructor(options: MisbehaviourOptions) {
    this.#options = options;
  }

  /** Misbehaves in one way. Errors: what did not hold. */
  async run(way: Way): Promise<MisbehaviourResult> {
    if (way.ends) return this.#end(way);
    this.#load.takeLongestGap();
    const before = this.#load.heard;
    const reported = await this.#misbehave(way);
    await after(readMs);
    const nextMs = await this.#saveNext();
    await this.#load.settle();
    return { reported, heard: this.#load.heard - before, longestGapMs: this.#load.takeLongestGap(), nextMs };
  }

  /** Stops the hub. Errors: when it does not stop well. */
  async stop(): Promise<void> {
    this.#load.close();
    this.#hub.kill('SIGTERM');
    const status = await this.#hub.ended();
    if (status !== 0) throw new Error(`the hub: expected to stop with status 0, got ${status}`);
  }

  kill(): void {
    this.#load.close();
    this.#hub.kill('SIGKILL');
  }

  async #misbehave({ flow, reported }: Way): Promise<string> {
    this.#hub.forget();
    await this.#save(flow);
    if (reported !== undefined) return this.#hub.said(reported);
    await this.#hub.said(/^reloaded/);
    await after(harmlessMs);
    return '';
  }

  /** The process ends; the next one leaves the flow out until it is saved again. */
  async #end(way: Way): Promise<MisbehaviourResult> {
    const reported = await this.#misbehave(way);
    await this.#hub.ended();
    this.#load.close();
    await this.#start();
    await this.#hub.said(/^flow flow\.ts is skipped; its connections run without its rules: /);
    await after(readMs);
    return { reported, heard: Number.NaN, longestGapMs: Number.NaN, nextMs: await this.#saveNext() };
  }

  async #start(): Promise<void> {
    const { folder, hubFolder, changesPerSecond } = this.#options;
    this.#hub = await startLoggingHub(folder, hubFolder);
    this.#load = await Load.open(this.#hub.ports, changesPerSecond);
  }

  async #saveNext(): Promise<number> {
    this.#plus += step;
    const startMs = performance.now();
    await this.#save({});
    await this.#load.adds(this.#plus);
    return performance.now() - startMs;
  }

  async #save(parts: Parts): Promise<void> {
    const { folder, hubFolder } = this.#options;
    await writeFile(join(folder, 'flow.ts'), flowOf(parts, this.#plus, join(hubFolder, 'lib/index.ts')));
  }
}

const deadlineMs = 60_000;

interface LoggingHub {
  /** Of its REST API connections, in the order of the flow file. */
  readonly ports: readonly number[];
  /** Resolves with the first message that matches since the last call of `forget`. Errors: when the hub ends without it. */
  said(pattern: RegExp): Promise<string>;
  forget(): void;
  /** Resolves when the process has ended, with its status or the name of the signal. */
  ended(): Promise<number | string>;
  kill(signal: NodeJS.Signals): void;
}

/** Runs the flow files of a folder. Errors: when it does not come to run. */
async function startLoggingHub(folder: string, hubFolder: string): Promise<LoggingHub> {
  const messages: string[] = [];
  const ports: number[] = [];
  const looking = new Set<() => void>();
  const look = () => {
    for (const one of looking) one();
  };
  const onEntry = ({ msg, port }: LogEntry) => {
    if (port !== undefined) ports.push(port);
    messages.push(msg.replaceAll(`${folder}/`, ''));
    look();
  };
  const { process: child } = await startHubOn(folder, { hubFolder }, [], onEntry);
  const exited = once(child, 'close').then(([status, signal]) => (signal ?? status) as number | string);
  const said = (pattern: RegExp) => {
    const found = new Promise<string>((resolve) => {
      const find = () => {
        const message = messages.find((one) => pattern.test(one.replace(/ \(\d+ times within a second\)$/, '')));
        if (message === undefined) return;
        looking.delete(find);
        resolve(message);
      };
      looking.add(find);
      find();
    });
    const over = exited.then((status): Promise<string> => {
      look();
      return Promise.race([
        found,
        Promise.reject(new Error(`the hub ended with ${status}, and never said ${pattern}; last: ${messages.at(-1)}`)),
      ]);
    });
    return within(Promise.race([found, over]), `the log to say ${pattern}, last ${messages.at(-1)}`, deadlineMs);
  };
  return {
    ports,
    said,
    forget: () => void messages.splice(0),
    ended: () => within(exited, 'the hub to end', deadlineMs),
    kill: (signal) => void child.kill(signal),
  };
}
