// Reloads: flow files are read again, and what has changed is swapped, one reload after another.

import type { Log } from '../connections/connection.ts';
import type { Deed } from '../connections/keeping.ts';
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
  /** Tells the store. */
  readonly note: (deed: Deed) => void;
  readonly log: Log;
  readonly watcher: FlowWatcher | undefined;
}

/** Nobody tells the hub who has saved them. */
const byFiles = { kind: 'reload', user: 'flow files', address: '' } as const;

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
    const { loader, swap, watcher } = this.#options;
    try {
      const plan = await loader.load();
      if (this.#isStopped) throw new HubError('cannot-start', 'the hub has been stopped');
      const reload = swap(plan);
      this.#tell(reload);
      return reload;
    } catch (error) {
      if (!this.#isStopped) this.#refuse(messageOf(error));
      throw error;
    } finally {
      if (!this.#isStopped) watcher?.alsoWatch(loader.furtherFiles);
    }
  }

  #tell({ connections, rules }: Reload): void {
    const { log, note } = this.#options;
    const parts = [
      ['connections', formatDifference(connections)],
      ['rules', formatDifference(rules)],
    ].filter(([, text]) => text !== '');
    const text = parts.map(([what, difference]) => `${what}: ${difference}`).join('; ') || 'nothing has changed';
    log[parts.length === 0 ? 'debug' : 'info']({ connections, rules }, `reloaded: ${text}`);
    if (parts.length > 0) note({ ...byFiles, after: 'reloaded', cause: text });
  }

  #refuse(message: string): void {
    const { loader, log, note } = this.#options;
    if (loader.report.isLoaded) loader.refuse(message);
    for (const line of message.split('\n')) log.error({}, line);
    log.error({}, 'not reloaded: the flow files as they were before run on');
    note({ ...byFiles, after: 'refused', cause: message });
  }
}
