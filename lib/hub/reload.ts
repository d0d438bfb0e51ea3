// Reloads the flow files and applies the differences, one reload after another.

import type { Log } from '../connections/connection.ts';
import type { PersistencePort } from '../connections/persistence.ts';
import type { FlowWatcher } from '../flow/files/watch.ts';
import type { FlowLoader } from '../flow/load.ts';
import type { Plan } from '../flow/plan.ts';
import { formatDifference } from '../flow/run/difference.ts';
import { counted } from '../model/digits.ts';
import { HubError, messageOf } from '../model/error.ts';
import type { Origin } from '../model/parameter.ts';
import type { LoadReport, Reload, ShadowReport } from '../model/reports/reload-report.ts';
import { withTrace } from '../model/writer.ts';

/** The flow files from which a hub was started, with their loader and watcher. */
export interface FlowFiles {
  readonly loader: FlowLoader;
  /** Reports saved files; undefined if saved files are not watched. */
  readonly watcher: FlowWatcher | undefined;
  /** Whether the first path from which the hub was started is a folder. */
  readonly isFolder: boolean;
}

/** The running hub, which runs the plans that reloads create. */
export interface ReloadTarget {
  /** Changes the running hub to match a plan. Errors: `cannot-start`, after which the previous configuration remains active. */
  apply(plan: Plan): Reload;
  applyInShadow(plan: Plan): ShadowReport;
  readonly persistence: Pick<PersistencePort, 'note'>;
}

/** The name under which the audit records a save, because the hub does not know which user saved the file. */
const savedBy = 'flow files';

/** Reloads flow files on request, and whenever the watcher has detected a save. */
export class Reloader {
  readonly #loader: FlowLoader;
  readonly #watcher: FlowWatcher | undefined;
  readonly #target: ReloadTarget;
  readonly #log: Log;
  #last: Promise<unknown> = Promise.resolve();
  #isStopped = false;
  /** Whether changes in saved files run in shadow. */
  #isInShadow = false;
  /** Whether the last load was refused because of errors. */
  #wasRefused = false;

  constructor({ loader, watcher }: FlowFiles, target: ReloadTarget, log: Log) {
    this.#loader = loader;
    this.#watcher = watcher;
    this.#target = target;
    this.#log = log;
  }

  /** The report on the last load of the flow files. */
  get report(): LoadReport {
    return this.#loader.report;
  }

  /** Reloads whenever a file is saved, even if it was saved while the hub was starting. */
  followSaves(): void {
    const follow = (): Promise<unknown> => (this.#isInShadow ? this.reloadInShadow() : this.reload());
    this.#watcher?.alsoWatch(this.#loader.furtherFiles, this.#loader.begunAt);
    this.#watcher?.changes$.subscribe({ next: () => void follow().catch(() => {}) }); // `#load` has logged the error
  }

  /** Reloads after all earlier requests. Errors: any error from the loader or from `apply`; these errors are logged. */
  reload(by?: Origin): Promise<Reload> {
    this.#isInShadow = false;
    return this.#after(() => this.#load((plan) => this.#apply(plan, by), by));
  }

  /** Runs work after all earlier reloads. No files are loaded until the work is done. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const working = this.#last.then(() => {
      this.#expectRunning();
      return work();
    });
    this.#last = working.catch(() => {});
    return working;
  }

  /** Loads and runs the files as a part of exclusive work; `comment` is recorded in the audit. Errors: the same as for `reload`. */
  reloadNow(by: Origin, comment: string): Promise<Reload> {
    this.#isInShadow = false;
    return this.#load((plan) => this.#apply(plan, by, comment), by);
  }

  /** Runs the changes in the files, and in files saved from now on, in shadow until `reload`. Errors: the same as for `reload`. */
  reloadInShadow(by?: Origin): Promise<ShadowReport> {
    this.#isInShadow = true;
    return this.#after(() => this.#load((plan) => this.#applyInShadow(plan), by));
  }

  #after<Result>(load: () => Promise<Result>): Promise<Result> {
    this.#loader.hurry();
    const reloading = this.#last.then(load);
    this.#last = reloading.catch(() => {});
    return reloading;
  }

  /** Prevents further reloads from beginning. Resolves when the files are no longer watched. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#loader.close();
    await this.#watcher?.close();
  }

  async #load<Result>(use: (plan: Plan) => Result, by: Origin | undefined): Promise<Result> {
    try {
      this.#expectRunning(); // a request made before the stop does not begin, either
      const plan = await this.#loader.load();
      this.#expectRunning();
      for (const warning of plan.warnings ?? []) this.#log.warn({}, warning);
      return use(plan);
    } catch (error) {
      if (!this.#isStopped) this.#refuse(messageOf(error), by);
      throw error;
    } finally {
      if (!this.#isStopped) this.#watcher?.alsoWatch(this.#loader.furtherFiles, this.#loader.begunAt);
    }
  }

  /** Checks that the hub has not been stopped. Errors: `cannot-start`. */
  #expectRunning(): void {
    if (this.#isStopped) throw new HubError('cannot-start', 'the hub is shutting down');
  }

  #apply(plan: Plan, by: Origin | undefined, comment = ''): Reload {
    const reload = this.#target.apply(plan);
    const parts = [
      ['connections', formatDifference(reload.connections)],
      ['rules', formatDifference(reload.rules)],
    ].filter(([, text]) => text !== '');
    const text = parts.map(([what, difference]) => `${what}: ${difference}`).join('; ') || 'no changes';
    const isNews = parts.length > 0 || this.#wasRefused;
    this.#wasRefused = false;
    this.#log[isNews ? 'info' : 'debug']({ ...reload }, `reloaded: ${text}`);
    if (parts.length > 0 || comment !== '') this.#note('reloaded', comment === '' ? text : `${comment}: ${text}`, by);
    return reload;
  }

  #applyInShadow(plan: Plan): ShadowReport {
    const report = this.#target.applyInShadow(plan);
    const { rules, left } = report;
    const text = `${counted(rules.length, 'rule')}, ${left.length} removed`;
    this.#log.info({ rules, left }, `reloaded in shadow: ${text}; the live configuration is unchanged`);
    return report;
  }

  #refuse(message: string, by: Origin | undefined): void {
    this.#wasRefused = true;
    if (this.#loader.report.isLoaded) this.#loader.refuse(message);
    for (const line of message.split('\n')) this.#log.error({}, line);
    this.#log.error({}, 'reload failed: the previous configuration remains active');
    this.#note('refused', message, by);
  }

  #note(after: string, cause: string, by: Origin | undefined): void {
    this.#target.persistence.note({
      kind: 'reload',
      user: by?.name ?? savedBy,
      address: '',
      after,
      cause: withTrace(cause, by),
    });
  }
}
