// The recurring faults of the soak test: a loop, a failing rule, a reload, a keyboard process that dies, and, halfway through, a full disk.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { AskedHub } from '../../support/asked-hub.ts';
import { becomesSo } from '../../support/deadline.ts';
import { parameterIdOf, plantOf } from '../../support/load/many-parameters.ts';

interface TroubleOptions {
  readonly hub: AskedHub;
  readonly pid: number;
  readonly folder: string;
  readonly flow: SoakedFlow;
  readonly reloadMs: number;
  /** Undefined: there is no disk that could be full. */
  readonly disk: string | undefined;
}

/** How often each was made. */
export interface TroubleCounts {
  kicks: number;
  reloads: number;
  deaths: number;
  fullMs: number;
}

const kickMs = 1000;
const deathMs = 10_000;
const takenMs = 60_000;
const lookMs = 100;

export class Troubles {
  readonly counts: TroubleCounts = { kicks: 0, reloads: 0, deaths: 0, fullMs: 0 };
  readonly mistakes: string[] = [];
  readonly #options: TroubleOptions;
  #isOver = false;
  #done: Promise<unknown> = Promise.resolve();

  constructor(options: TroubleOptions) {
    this.#options = options;
  }

  start(): void {
    const { reloadMs, flow } = this.#options;
    this.#done = Promise.all([
      this.#again(kickMs, () => this.#kick()),
      this.#again(reloadMs, () => this.#reload()),
      ...(flow.hasKeyboard ? [this.#again(deathMs, () => this.#killKeyboard())] : []),
    ]);
  }

  /** Ends all of them, and waits for the last. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }

  /** Has the disk of the store full for a while; nothing where there is none. */
  async fillDisk(forMs: number): Promise<void> {
    const { disk, hub } = this.#options;
    if (disk === undefined) return;
    const startMs = performance.now();
    try {
      execFileSync('dd', ['if=/dev/zero', `of=${join(disk, 'filler')}`, 'bs=64k'], { stdio: 'ignore' });
    } catch {} // as far as there is room
    await this.#expect('the store to say that the disk is full', async () =>
      /full|no room|cannot write/.test((await hub.connection('store')).reason),
    );
    await after(Math.max(0, startMs + forMs - performance.now()), undefined, { ref: false }); // a soak that fails does not wait for it
    await rm(join(disk, 'filler'));
    this.counts.fullMs = performance.now() - startMs;
    await this.#expect('the store to write again', async () => (await hub.connection('store')).state === 'running');
  }

  async #again(everyMs: number, work: () => Promise<void>): Promise<void> {
    for (let dueMs = performance.now() + everyMs; !this.#isOver; await after(lookMs)) {
      if (performance.now() < dueMs) continue;
      dueMs += everyMs;
      try {
        await work();
      } catch (error) {
        this.mistakes.push(String(error));
      }
    }
  }

  async #kick(): Promise<void> {
    const { hub } = this.#options;
    this.counts.kicks++;
    await hub.set('desk/loop/a', 0);
    await hub.set('desk/text', `no number, ${this.counts.kicks}`);
  }

  async #reload(): Promise<void> {
    const { hub, folder, flow } = this.#options;
    const number = ++this.counts.reloads;
    const factor = factors[number % factors.length]!;
    await writeFile(join(folder, 'flow.json5'), JSON.stringify(soakedFlow({ ...flow, factor })));
    await this.#expect(`reload ${number} to take effect`, async () => {
      await hub.set('desk/level', Math.random());
      return Number(await hub.value('desk/factored')) === Number(await hub.value('desk/level')) * factor;
    });
  }

  async #killKeyboard(): Promise<void> {
    for (const pid of keyboardPids(this.#options.pid)) {
      process.kill(pid, 'SIGKILL');
      this.counts.deaths++;
    }
  }

  async #expect(what: string, isSo: () => Promise<boolean>): Promise<void> {
    if (!(await becomesSo(isSo, { deadlineMs: takenMs, everyMs: lookMs })))
      this.mistakes.push(`expected ${what} within ${takenMs / 1000} s`);
  }
}

/** The processes that a hub has for its keyboards. */
function keyboardPids(parentPid: number): number[] {
  const threads = readdirSync(`/proc/${parentPid}/task`);
  const pids = threads.flatMap((thread) =>
    readFileSync(`/proc/${parentPid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return pids
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/keyboard/process/main.'));
}

export const copies = 100;
/** What a reload changes: by what the level is multiplied. */
export const factors = [100, 1000] as const;

export interface SoakedFlow {
  readonly parameters: number;
  readonly factor: number;
  readonly hasKeyboard: boolean;
}

export function soakedFlow({ parameters, factor, hasKeyboard }: SoakedFlow) {
  const loud = { exclude: ['plant/**', 'copy/**', 'desk/loop/*'] };
  return {
    connections: {
      api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
      ...plantOf(parameters).connections,
      copy: { type: 'dummy', parameters: Array.from({ length: copies }, (_, index) => `${index},F`) },
      desk: { type: 'dummy', parameters: ['level,F,0', 'factored,F,0', 'loop/a,F', 'loop/b,F', 'text,S', 'number,I'] },
      store: { type: 'store', folder: 'data', maxSize: '32MB', history: [loud], audit: loud },
      ...(hasKeyboard && { keys: { type: 'keyboard', inputKeys: ['ctrl-f1'] } }),
    },
    rules: [
      ...Array.from({ length: copies }, (_, index) => ({
        name: `copy ${index}`,
        from: `plant/${parameterIdOf(index)}`,
        to: `copy/${index}`,
      })),
      { name: 'loop there', from: 'desk/loop/a', map: 'value + 1', to: 'desk/loop/b' },
      { name: 'loop back', from: 'desk/loop/b', map: 'value + 1', to: 'desk/loop/a' },
      { name: 'fails', from: 'desk/text', to: 'desk/number' },
      { name: 'factored', from: 'desk/level', map: `value * ${factor}`, to: 'desk/factored' },
    ],
  };
}
