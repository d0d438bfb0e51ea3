// The stage of a part of the trial: a hub with device connections, the programs that it connects to, and folders. All are cleaned up when
// the part ends.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { type Hub, startHub } from '../../../lib/hub/index.ts';
import type { Value } from '../../../lib/model/value.ts';
import { createLogRecorder, type LogRecorder } from '../../support/connection.ts';
import { eventually } from '../../support/deadline.ts';
import { createTemporaryFolder } from '../../support/folder.ts';
import { statusOf, writer } from '../../support/hub.ts';
import type { Random } from '../../support/random.ts';
import { dependent } from '../../support/system/dependent.ts';
import { notify } from '../trial.ts';

/** The longest that a device may take to be there again after its return. */
export const backMs = 5000;

/** How a program is broken, and how often. */
export interface Breaks {
  readonly rounds: number;
  readonly stops: boolean;
  readonly random: Random;
}

export class Stage {
  readonly #endings: (() => unknown)[] = [];

  /** Creates a folder with these files. */
  async folder(files: Readonly<Record<string, string | Buffer>> = {}): Promise<string> {
    const { path, remove } = await createTemporaryFolder('devices');
    this.#endings.push(remove);
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), content);
    }
    return path;
  }

  run(name: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildProcess {
    const child = spawn(...dependent(name, args), { stdio: 'ignore', env });
    this.#endings.push(() => child.kill('SIGKILL'));
    return child;
  }

  /** Starts a hub with these connections, and waits until `it` runs. */
  async startHub(connections: Readonly<Record<string, object>>): Promise<StagedHub> {
    const folder = await this.folder({ 'flow.json5': JSON.stringify({ connections }) });
    const log = createLogRecorder();
    const hub = await startHub({ paths: [folder], log });
    this.#endings.push(() => hub.stop());
    await eventually(() => statusOf(hub, 'it').state === 'running', 'the connection "it" to run');
    return new StagedHub(hub, log);
  }

  onEnd(work: () => unknown): void {
    this.#endings.push(work);
  }

  async end(): Promise<void> {
    for (const work of this.#endings.reverse()) await work();
  }
}

export class StagedHub {
  readonly hub: Hub;
  readonly logged: LogRecorder['logged'];

  constructor(hub: Hub, log: LogRecorder) {
    this.hub = hub;
    this.logged = log.logged;
  }

  /** The value of a parameter of `it`. */
  value(id: string): Value | undefined {
    return this.hub.find(`it/${id}`)?.value;
  }

  /** Sets parameters of `it`; each has to be confirmed, with the write as the cause. */
  async set(written: Readonly<Record<string, Value>>): Promise<void> {
    for (const [id, value] of Object.entries(written)) {
      const address = `it/${id}`;
      await eventually(() => this.hub.find(address) !== undefined, address);
      const isEqual = this.value(id) === value;
      this.hub.write(address, value, writer);
      await eventually(
        () => this.value(id) === value && this.hub.find(address)!.wanted === undefined,
        `${address} = ${value}`,
      );
      if (!isEqual) assert.equal(this.hub.find(address)!.lastChange!.cause?.origin.name, writer.name, address);
    }
  }

  /** Expects that a value is refused, without a word to the device. */
  refuse(id: string, value: Value): void {
    assert.throws(() => this.hub.write(`it/${id}`, value, writer), { code: 'out-of-range' });
  }

  isStale(id: string): boolean {
    return this.hub.find(`it/${id}`)!.device?.staleSince !== undefined;
  }

  /**
   * Kills a program, and stops it, at random moments, also while the hub connects, and starts it again. Meanwhile the value is stale and not
   * written, afterwards the device is back in time. Returns the program that runs at the end.
   */
  async break(id: string, first: ChildProcess, start: () => Promise<ChildProcess>, breaks: Breaks): Promise<void> {
    const { rounds, stops, random } = breaks;
    let program = first;
    let longestMs = 0;
    const back = async () => {
      const startMs = performance.now();
      await eventually(
        () => statusOf(this.hub, 'it').state === 'running' && !this.isStale(id),
        'the device to be back',
      );
      const tookMs = performance.now() - startMs;
      longestMs = Math.max(longestMs, tookMs);
      assert.ok(tookMs < backMs, `back after ${tookMs.toFixed(0)} ms, expected less than ${backMs}`);
    };
    for (let round = 0; round < rounds; round++) {
      await back();
      const before = this.value(id);
      program.kill('SIGKILL');
      if (program.exitCode === null && program.signalCode === null) await once(program, 'exit');
      await eventually(() => this.isStale(id), `${id} to be stale`);
      assert.equal(this.value(id), before, 'the value stays');
      assert.throws(() => this.hub.write(`it/${id}`, before!, writer), { code: 'unavailable' });
      program = await start();
      if (round + 1 < rounds) {
        await after(random.below(2500)); // so that the next kill comes while the hub connects, greets, loads or works
        program.kill('SIGKILL');
        await once(program, 'exit');
        await eventually(() => this.isStale(id), `${id} to be stale`);
        program = await start();
      }
      await back();
      if (!stops) continue;
      program.kill('SIGSTOP');
      await eventually(() => this.isStale(id), `${id} to be stale`);
      await after(random.below(1000));
      program.kill('SIGCONT');
    }
    if (stops) await back();
    notify(`  broken ${rounds} times, back after ${longestMs.toFixed(0)} ms at most`);
  }
}
