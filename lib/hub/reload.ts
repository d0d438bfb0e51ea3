// Reloads: flow files are read again, and what has changed is swapped, one reload after another.

import type { Log } from '../connections/connection.ts';
import type { FlowWatcher } from '../flow/files/watch.ts';
import type { FlowLoader } from '../flow/load.ts';
import type { Plan } from '../flow/plan.ts';
import { type Difference, formatDifference } from '../flow/run/difference.ts';
import { HubError, messageOf } from '../model/error.ts';

/** What a reload has swapped: Connection IDs and names of rules. */
export interface Reload {
  readonly connections: Difference;
  readonly rules: Difference;
}

export interface ReloaderOptions {
  readonly loader: FlowLoader;
  /** Swaps what a plan has changed. Errors: `cannot-start`; then everything runs on as it was. */
  readonly swap: (plan: Plan) => Reload;
  readonly log: Log;
  readonly watcher: FlowWatcher | undefined;
}

/** Reloads flow files when it is asked to, and when the watcher has seen a save. */
export class Reloader {
  readonly #options: ReloaderOptions;
  #last: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    options.watcher?.changes$.subscribe({ next: () => void this.reload().catch(() => {}) }); // `#load` has logged why
  }

  /** Reloads, after the reloads that it was asked for before. Errors: those of the loader and of `swap`, which are logged. */
  reload(): Promise<Reload> {
    this.#options.loader.hurry();
    const reloading = this.#last.then(() => this.#load());
    this.#last = reloading.catch(() => {});
    return reloading;
  }

  /** Swaps nothing any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#options.loader.close();
    await this.#options.watcher?.close();
  }

  async #load(): Promise<Reload> {
    const { loader, swap, log, watcher } = this.#options;
    try {
      const plan = await loader.load();
      if (this.#isStopped) throw new HubError('cannot-start', 'the hub has been stopped');
      const reload = swap(plan);
      watcher?.alsoWatch(plan.furtherFiles);
      logReload(log, reload);
      return reload;
    } catch (error) {
      if (!this.#isStopped) this.#refuse(messageOf(error));
      throw error;
    }
  }

  #refuse(message: string): void {
    const { loader, log } = this.#options;
    if (loader.report.isLoaded) loader.refuse(message);
    for (const line of message.split('\n')) log.error({}, line);
    log.error({}, 'not reloaded: the flow files as they were before run on');
  }
}

function logReload(log: Log, { connections, rules }: Reload): void {
  const parts = [
    ['connections', formatDifference(connections)],
    ['rules', formatDifference(rules)],
  ].filter(([, text]) => text !== '');
  if (parts.length === 0) log.debug({}, 'reloaded: nothing has changed');
  else log.info({ connections, rules }, `reloaded: ${parts.map(([what, text]) => `${what}: ${text}`).join('; ')}`);
}
