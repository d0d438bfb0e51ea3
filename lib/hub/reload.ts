// Reloads: flow files are read again, and what has changed is swapped, one reload after another.

import type { Log } from '../connections/connection.ts';
import type { Deed } from '../connections/keeping.ts';
import type { FlowWatcher } from '../flow/files/watch.ts';
import type { FlowLoader } from '../flow/load.ts';
import type { Plan } from '../flow/plan.ts';
import { formatDifference } from '../flow/run/difference.ts';
import { HubError, messageOf } from '../model/error.ts';
import type { Origin } from '../model/parameter.ts';
import type { Reload } from '../model/reports/reload-report.ts';
import type { ShadowReport } from '../model/reports/shadow-report.ts';
import { withTrace } from '../model/trace.ts';

export type { Reload } from '../model/reports/reload-report.ts';

export interface ReloaderOptions {
  readonly loader: FlowLoader;
  /** Swaps what a plan has changed. Errors: `cannot-start`; then everything runs on as it was. */
  readonly swap: (plan: Plan) => Reload;
  /** Runs in shadow what a plan would change. */
  readonly runInShadow: (plan: Plan) => ShadowReport;
  /** Tells the store. */
  readonly note: (deed: Deed) => void;
  readonly log: Log;
  readonly watcher: FlowWatcher | undefined;
}

/** Nobody tells the hub who has saved flow files. */
const savedBy = 'flow files';

/** Reloads flow files when it is asked to, and when the watcher has seen a save. */
export class Reloader {
  readonly #options: ReloaderOptions;
  #last: Promise<unknown> = Promise.resolve();
  #isStopped = false;
  /** Whether what is saved goes into shadow. */
  #isInShadow = false;
  /** Whether the files had a mistake at the last look. */
  #wasRefused = false;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    const follow = (): Promise<unknown> => (this.#isInShadow ? this.reloadInShadow() : this.reload());
    options.watcher?.changes$.subscribe({ next: () => void follow().catch(() => {}) }); // `#load` has logged why
  }

  /** Reloads, after the reloads that it was asked for before. Errors: those of the loader and of `swap`, which are logged. */
  reload(by?: Origin): Promise<Reload> {
    this.#isInShadow = false;
    return this.#after(() => this.#load((plan) => this.#swap(plan, by), by));
  }

  /** Runs in shadow what the files have changed, and what is saved from now on, until `reload`. Errors: as `reload`. */
  reloadInShadow(by?: Origin): Promise<ShadowReport> {
    this.#isInShadow = true;
    return this.#after(() => this.#load((plan) => this.#runInShadow(plan), by));
  }

  #after<Result>(load: () => Promise<Result>): Promise<Result> {
    this.#options.loader.hurry();
    const reloading = this.#last.then(load);
    this.#last = reloading.catch(() => {});
    return reloading;
  }

  /** Swaps nothing any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#options.loader.close();
    await this.#options.watcher?.close();
  }

  async #load<Result>(use: (plan: Plan) => Result, by: Origin | undefined): Promise<Result> {
    const { loader, watcher } = this.#options;
    try {
      const plan = await loader.load();
      for (const warning of plan.warnings ?? []) this.#options.log.warn({}, warning);
      if (this.#isStopped) throw new HubError('cannot-start', 'the hub has been stopped');
      return use(plan);
    } catch (error) {
      if (!this.#isStopped) this.#refuse(messageOf(error), by);
      throw error;
    } finally {
      if (!this.#isStopped) watcher?.alsoWatch(loader.furtherFiles);
    }
  }

  #swap(plan: Plan, by: Origin | undefined): Reload {
    const reload = this.#options.swap(plan);
    const parts = [
      ['connections', formatDifference(reload.connections)],
      ['rules', formatDifference(reload.rules)],
    ].filter(([, text]) => text !== '');
    const text = parts.map(([what, difference]) => `${what}: ${difference}`).join('; ') || 'nothing has changed';
    const isNews = parts.length > 0 || this.#wasRefused;
    this.#wasRefused = false;
    this.#options.log[isNews ? 'info' : 'debug']({ ...reload }, `reloaded: ${text}`);
    if (parts.length > 0) this.#note('reloaded', text, by);
    return reload;
  }

  #runInShadow(plan: Plan): ShadowReport {
    const report = this.#options.runInShadow(plan);
    const { rules, left } = report;
    const text = `${rules.length} rules, ${left.length} left out`;
    this.#options.log.info({ rules, left }, `reloaded in shadow: ${text}; what runs live is as it was`);
    return report;
  }

  #refuse(message: string, by: Origin | undefined): void {
    this.#wasRefused = true;
    const { loader, log } = this.#options;
    if (loader.report.isLoaded) loader.refuse(message);
    for (const line of message.split('\n')) log.error({}, line);
    log.error({}, 'not reloaded: the flow files as they were before run on');
    this.#note('refused', message, by);
  }

  #note(after: string, cause: string, by: Origin | undefined): void {
    this.#options.note({ kind: 'reload', user: by?.name ?? savedBy, address: '', after, cause: withTrace(cause, by) });
  }
}
