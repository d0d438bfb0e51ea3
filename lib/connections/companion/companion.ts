// The connection type `companion`: hosts a driver module made for Bitfocus Companion, of API 1.x or 2.x, in a process of its own. Variables and
// feedbacks of the module are values, its actions are writes.

import { Observable, type Subscription } from 'rxjs';
import { HubError, messageOf } from '../../model/error.ts';
import type { Change } from '../../model/parameter.ts';
import { Backoff, restartTimes } from '../../model/time/backoff.ts';
import { convert, type Value, type ValueType } from '../../model/value.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType } from '../connection.ts';
import { Loss } from '../loss.ts';
import { DriverProcess } from './child.ts';
import type { FromProcess } from './messages.ts';
import { type Driver, openDriver } from './package.ts';
import { type CompanionSettings, declarationsOf, filledOptions, mistakesOf, settingsSchema } from './settings.ts';

/** After so many ends before it was ready, a module counts as one that cannot run. */
export const maxFailedStarts = 5;
/** The number of actions that a module may have unanswered. */
export const maxActions = 1000;

export const companion = defineConnectionType({
  type: 'companion',
  isExternal: true,
  settingsSchema,
  durations: ['confirmTimeout', 'hold'],
  parameters: declarationsOf,
  mistakes: mistakesOf,
  files: ({ module }, resolvePath) => (/\.tgz$/.test(module) ? [resolvePath(module)] : []),
  secrets: ({ secrets }) =>
    Object.values(secrets).filter((secret): secret is string => typeof secret === 'string' && secret !== ''),
  belongings: ({ module }, resolvePath) => [resolvePath(module)],
  isSimulated: ({ simulate }) => simulate,
  run: (context) => (context.settings.simulate ? simulate(context) : run(context)),
});

function run(context: ConnectionContext<CompanionSettings>): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const session = new Session(
      context,
      (event) => subscriber.next(event),
      (error) => subscriber.error(error),
    );
    void session.open();
    return () => context.finish(session.close());
  });
}

/** Runs without the module, and confirms every write immediately. */
function simulate({ settings, inbox, cause }: ConnectionContext<CompanionSettings>): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const writing = Object.keys(settings.writes).map((id) =>
      inbox(id).subscribe({
        next: (value) => {
          if (Object.hasOwn(settings.values, id)) subscriber.next({ set: id, value, because: cause() });
        },
        error: (error) => subscriber.error(error),
      }),
    );
    subscriber.next({ state: 'running' });
    subscriber.next({ stale: false });
    return () => {
      for (const one of writing) one.unsubscribe();
    };
  });
}

/** A write that the module has not confirmed yet. */
interface Pending {
  readonly value: Value;
  readonly because: Change | undefined;
  readonly timer: Subscription;
}

/** What is known of modules that cannot run, by their settings: a new attempt would be as hopeless. */
const refusals = new WeakMap<object, { readonly lacks?: string; failedStarts: number }>();

/** One run of a connection: its process, restarted when it ends. */
class Session {
  readonly #context: ConnectionContext<CompanionSettings>;
  readonly #emit: (event: ConnectionEvent) => void;
  readonly #fail: (error: unknown) => void;
  readonly #loss: Loss;
  readonly #backoff = new Backoff(restartTimes);
  readonly #types: ReadonlyMap<string, ValueType>;
  readonly #actions = new Map<number, string>();
  readonly #pending = new Map<string, Pending>();
  readonly #writing: readonly Subscription[];
  #driver: Driver | undefined;
  #process: DriverProcess | undefined;
  #restarting: Subscription | undefined;
  #acts = 0;
  #isReady = false;
  #isOk = false;
  #readyMs = 0;
  #isClosed = false;

  constructor(
    context: ConnectionContext<CompanionSettings>,
    emit: (event: ConnectionEvent) => void,
    fail: (error: unknown) => void,
  ) {
    const { settings, scheduler, turn } = context;
    this.#context = context;
    this.#emit = (event) => {
      if (!this.#isClosed) emit(event);
    };
    this.#fail = (error) => {
      if (!this.#isClosed) fail(error);
    };
    this.#types = new Map(declarationsOf(settings).map(({ id, type }) => [id, type]));
    this.#loss = new Loss(settings, scheduler, () =>
      turn(() => {
        for (const id of Object.keys(settings.values)) this.#emit({ unset: id });
      }),
    );
    this.#writing = Object.keys(settings.writes).map((id) =>
      context
        .inbox(id, (input) => {
          this.#expectDevice(id);
          return convert(this.#types.get(id)!, input);
        })
        .subscribe({ next: (value) => this.#write(id, value), error: fail }),
    );
  }

  async open(): Promise<void> {
    const { settings, resolvePath } = this.#context;
    const { lacks } = refusals.get(settings) ?? {};
    if (lacks !== undefined) {
      this.#fail(new HubError('cannot-start', lacks));
      return;
    }
    try {
      const driver = await openDriver(resolvePath(settings.module), settings.module);
      if (this.#isClosed) await driver.remove();
      else {
        this.#driver = driver;
        this.#start();
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#loss.end();
    this.#restarting?.unsubscribe();
    for (const one of this.#writing) one.unsubscribe();
    for (const { timer } of this.#pending.values()) timer.unsubscribe();
    await this.#process?.stop();
    await this.#driver?.remove();
  }

  get #name(): string {
    const { id, version } = this.#driver!;
    return `module ${id} ${version}`;
  }

  #start(): void {
    const { settings, id, scheduler } = this.#context;
    const { config, secrets, allowHosts, values } = settings;
    const driver = this.#driver!;
    const { api, entrypoint } = driver;
    this.#process = new DriverProcess(
      {
        driver,
        memoryMiB: settings.memory,
        scheduler,
        start: { api, entrypoint, label: id, config, secrets, allowHosts, values, describes: false },
      },
      { line: (line) => this.#take(line), ended: (reason) => this.#ended(reason) },
    );
  }

  #take(line: FromProcess): void {
    const { log } = this.#context;
    if ('values' in line)
      this.#context.turn(() => {
        for (const [id, value] of line.values) this.#set(id, value);
      });
    else if ('status' in line) this.#setStatus(line.status, line.message);
    else if ('ready' in line) {
      this.#isReady = true;
      this.#readyMs = this.#context.scheduler.now();
      refusals.delete(this.#context.settings);
      log.info({}, `${this.#name} has started`);
      if (!this.#isOk && this.#status === undefined) this.#setStatus('connecting', '');
    } else if ('lacks' in line) {
      const lacks = `config: ${this.#name} also needs ${line.lacks.join(', ')}; it was not started`;
      refusals.set(this.#context.settings, { lacks, failedStarts: 0 });
      this.#fail(new HubError('cannot-start', lacks));
    } else if ('done' in line) this.#done(line.done, line.error);
    else if ('log' in line) log[line.log]({}, `${this.#name}: ${line.text}`, `${line.log} of the module`);
    else if ('denied' in line)
      log.warn(
        {},
        `${this.#name} was not permitted to ${line.denied}`,
        `denied: ${line.denied.split(' ', 2).join(' ')}`,
      );
  }

  #status: string | undefined;

  #setStatus(status: string, message: string): void {
    this.#status = status;
    this.#isOk = status === 'ok';
    if (this.#isOk) {
      this.#loss.end();
      this.#emit({ state: 'running' });
      this.#emit({ stale: false });
      return;
    }
    const about = message === '' ? status.replaceAll('_', ' ') : `${status.replaceAll('_', ' ')}: ${message}`;
    this.#goOffline(about);
  }

  #goOffline(reason: string): void {
    this.#isOk = false;
    this.#emit({ state: 'degraded', reason: `${this.#name}: ${reason}` });
    this.#emit({ stale: true });
    this.#loss.begin();
    this.#refusePending(`${this.#name}: ${reason}`);
  }

  #refusePending(reason: string): void {
    for (const [id, { timer }] of this.#pending) {
      timer.unsubscribe();
      this.#emit({ settle: id, error: new HubError('not-confirmed', reason) });
    }
    this.#pending.clear();
  }

  #ended(reason: string): void {
    const { scheduler, settings } = this.#context;
    this.#actions.clear();
    this.#status = undefined;
    const ran = this.#isReady ? scheduler.now() - this.#readyMs : 0;
    this.#goOffline(`${reason}; it is started again`);
    this.#context.log.warn({}, `${this.#name} ended: ${reason}`, 'the module ended');
    if (!this.#isReady) {
      const failedStarts = (refusals.get(settings)?.failedStarts ?? 0) + 1;
      refusals.set(settings, { failedStarts });
      if (failedStarts >= maxFailedStarts) {
        const times = `${failedStarts} times before it was ready`;
        this.#fail(new HubError('cannot-start', `${this.#name} ended ${times}, at last because ${reason}`));
        return;
      }
    }
    this.#isReady = false;
    this.#backoff.ran(ran);
    this.#restarting = scheduler.schedule(() => this.#start(), this.#backoff.next());
  }

  #set(id: string, reported: unknown): void {
    const { own, log } = this.#context;
    const type = this.#types.get(id);
    if (type === undefined || !Object.hasOwn(this.#context.settings.values, id)) return;
    const parameter = own(id);
    if (reported === null || (reported === '' && type !== 'S')) {
      if (parameter?.value !== undefined) this.#emit({ unset: id });
      return;
    }
    let value: Value;
    try {
      value = convert(type, reported);
    } catch (error) {
      log.warn({}, `${id}: ${messageOf(error)}`, `${id}: not convertible`);
      return;
    }
    const pending = this.#pending.get(id);
    if (pending !== undefined && pending.value === value) this.#confirm(id, pending);
    else if (parameter?.value !== value) this.#emit({ set: id, own: parameter, value });
  }

  #confirm(id: string, { value, because, timer }: Pending): void {
    timer.unsubscribe();
    this.#pending.delete(id);
    this.#emit({ set: id, own: this.#context.own(id), value, because });
  }

  #expectDevice(id: string): void {
    if (!this.#isOk) throw new HubError('unavailable', `${id}: the device of the module is offline`);
    if (this.#actions.size >= maxActions)
      throw new HubError('unavailable', `${id}: expected at most ${maxActions} actions that the module has not done`);
  }

  #write(id: string, value: Value): void {
    const { settings, scheduler, cause } = this.#context;
    const { action, options } = settings.writes[id]!;
    const act = ++this.#acts;
    this.#actions.set(act, id);
    if (Object.hasOwn(settings.values, id)) {
      this.#pending.get(id)?.timer.unsubscribe();
      const timer = scheduler.schedule(() => {
        this.#pending.delete(id);
        const error = new HubError('not-confirmed', `${id}: the module has not reported the value`);
        this.#emit({ settle: id, error });
      }, settings.confirmTimeout);
      this.#pending.set(id, { value, because: cause(), timer });
    }
    this.#process?.send({ act, action, options: filledOptions(options, value) });
  }

  #done(act: number, error: string | undefined): void {
    const { log, own } = this.#context;
    const id = this.#actions.get(act);
    if (id === undefined) return;
    this.#actions.delete(act);
    const pending = this.#pending.get(id);
    if (error !== undefined) {
      log.warn({}, `${id}: the action failed: ${error}`, `${id}: the action failed`);
      if (pending === undefined) return;
      pending.timer.unsubscribe();
      this.#pending.delete(id);
      this.#emit({ settle: id, error: new HubError('not-confirmed', `${id}: the action failed: ${error}`) });
    } else if (pending !== undefined && own(id)?.value === pending.value) this.#confirm(id, pending);
  }
}
