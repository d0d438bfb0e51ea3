// The connection type `companion`: hosts a driver module made for Bitfocus Companion, for API 1.x or 2.x, in its own process. The module's
// variables and feedbacks are values, and its actions are writes.

import { Observable, type Subscription } from 'rxjs';
import { HubError, messageOf } from '../../model/error.ts';
import type { Change } from '../../model/parameter.ts';
import { Backoff, restartTimes } from '../../model/time/backoff.ts';
import { convert, type Value, type ValueType } from '../../model/value.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType } from '../connection.ts';
import type { DriverField, DriverPage, DriverQuestion, DriverState, HubPort } from '../hub-port.ts';
import { Loss } from '../loss.ts';
import { DriverProcess, ownMemoryMiB } from './child.ts';
import type { FromProcess } from './messages.ts';
import { type Driver, openDriver } from './package.ts';
import { type CompanionSettings, declarationsOf, filledOptions, mistakesOf, settingsSchema } from './settings.ts';

/** The number of times that a module's process may end without ever having been ready; after that, the connection fails. */
export const maxFailedStarts = 5;
/**
 * The number of times that the hub kills a module's process before it stops restarting the module. After a run of `provenMs`, the count
 * starts again from zero.
 */
export const maxKills = 5;
const provenMs = 600_000;
/** The number of a module's log entries that the module's page shows. */
const keptEntries = 50;
/** The maximum number of actions that are waiting for an answer. */
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
  run: (context, hub) => (context.settings.simulate ? simulate(context, hub) : run(context, hub)),
});

/** The registry in which the console finds the module. */
type Drivers = Pick<HubPort, 'drivers' | 'connections'> | undefined;

function run(context: ConnectionContext<CompanionSettings>, hub: Drivers): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const session = new Session(
      context,
      hub,
      (event) => subscriber.next(event),
      (error) => subscriber.error(error),
    );
    void session.open();
    return () => context.finish(session.close());
  });
}

/** Runs without the module, and confirms every write immediately. */
function simulate(
  { settings, id, inbox, cause }: ConnectionContext<CompanionSettings>,
  hub: Drivers,
): Observable<ConnectionEvent> {
  const state = { status: 'simulated', restarts: 0, limitMiB: settings.memory, missing: [], log: [] };
  const none = new HubError('unavailable', 'the connection is simulated: it runs without the module');
  return new Observable((subscriber) => {
    const writing = Object.keys(settings.writes).map((id) =>
      inbox(id).subscribe({
        next: (value) => {
          if (Object.hasOwn(settings.values, id)) subscriber.next({ set: id, value, because: cause() });
        },
        error: (error) => subscriber.error(error),
      }),
    );
    hub?.drivers.set(id, { state: () => state, list: () => Promise.reject(none) });
    subscriber.next({ state: 'running' });
    subscriber.next({ stale: false });
    return () => {
      hub?.drivers.delete(id);
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

/** What the hub knows about a module that cannot run, or must not run. */
interface ModuleRecord {
  /** Why the module is not started again. */
  refused?: string;
  missing: readonly string[];
  failedStarts: number;
  kills: number;
  restarts: number;
}

/**
 * The records, keyed by the log of a supervised connection, which all runs of the connection share. If an operator starts the connection
 * again, or its settings change, it has a new log, and therefore another chance.
 */
const records = new WeakMap<object, ModuleRecord>();

function recordOf(log: object): ModuleRecord {
  let record = records.get(log);
  if (record === undefined) {
    record = { missing: [], failedStarts: 0, kills: 0, restarts: 0 };
    records.set(log, record);
  }
  return record;
}

/** One run of a connection, with its process, which is restarted when it ends. */
class Session {
  readonly #context: ConnectionContext<CompanionSettings>;
  readonly #hub: Drivers;
  readonly #record: ModuleRecord;
  readonly #view = { state: () => this.#state(), list: this.#list.bind(this) };
  readonly #entries: DriverState['log'][number][] = [];
  readonly #emit: (event: ConnectionEvent) => void;
  readonly #fail: (error: unknown) => void;
  readonly #loss: Loss;
  readonly #backoff = new Backoff(restartTimes);
  readonly #types: ReadonlyMap<string, ValueType>;
  readonly #actions = new Map<number, string>();
  readonly #pending = new Map<string, Pending>();
  readonly #writing: readonly Subscription[];
  #driver: Driver | undefined;
  #child: DriverProcess | undefined;
  #restarting: Subscription | undefined;
  #acts = 0;
  #isReady = false;
  #isOk = false;
  #readyMs = 0;
  #startedAt: number | undefined;
  #status: string | undefined;
  #message = '';
  #config: readonly DriverField[] | undefined;
  #isClosed = false;
  #hasFailed = false;

  constructor(
    context: ConnectionContext<CompanionSettings>,
    hub: Drivers,
    emit: (event: ConnectionEvent) => void,
    fail: (error: unknown) => void,
  ) {
    const { settings, scheduler, turn } = context;
    this.#context = context;
    this.#hub = hub;
    this.#record = recordOf(context.log);
    this.#emit = (event) => {
      if (!this.#isClosed) emit(event);
    };
    this.#fail = (error) => {
      this.#hasFailed = true;
      this.#startedAt = undefined;
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
    const { refused } = this.#record;
    if (refused !== undefined) {
      this.#fail(new HubError('cannot-start', refused));
      return;
    }
    this.#show();
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
    // operators still have to see why the connection has failed, and which config fields are missing
    if (!this.#hasFailed && this.#hub?.drivers.get(this.#context.id) === this.#view)
      this.#hub.drivers.delete(this.#context.id);
    await this.#child?.stop();
    await this.#driver?.remove();
  }

  /** Registers a view of the module for the console, and removes the views of failed connections that no longer exist. */
  #show(): void {
    if (this.#hub === undefined) return;
    const { drivers } = this.#hub;
    const known = new Set(this.#hub.connections().map(({ id }) => id));
    const isWhole = known.has(this.#context.id); // while the hub starts or reloads, its own connections are not known yet
    for (const id of drivers.keys()) if (isWhole && !known.has(id)) drivers.delete(id);
    drivers.set(this.#context.id, this.#view);
  }

  #state(): DriverState {
    const { missing, restarts } = this.#record;
    const driver = this.#driver;
    return {
      ...(driver && {
        module: {
          id: driver.id,
          name: driver.name,
          version: driver.version,
          manufacturer: driver.manufacturer,
          products: driver.products.slice(0, 20),
          apiVersion: driver.apiVersion,
        },
      }),
      status: this.#status === undefined ? '' : statusText(this.#status, this.#message),
      ...(this.#startedAt !== undefined && { startedAt: this.#startedAt }),
      restarts,
      ...(this.#child?.usedMiB !== undefined && { usedMiB: this.#child.usedMiB }),
      limitMiB: this.#context.settings.memory + ownMemoryMiB,
      ...(this.#config && { config: this.#config }),
      missing,
      log: this.#entries,
    };
  }

  async #list(question: DriverQuestion): Promise<DriverPage> {
    if (this.#child === undefined || !this.#isReady) throw new HubError('unavailable', 'the module is not running');
    return this.#child.list(question);
  }

  #note(level: string, text: string): void {
    this.#entries.push({ timeMs: this.#context.timeOfDay(), level, text: this.#context.withoutSecrets(text) });
    if (this.#entries.length > keptEntries) this.#entries.shift();
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
    this.#startedAt = this.#context.timeOfDay();
    this.#child = new DriverProcess(
      {
        driver,
        memoryMiB: settings.memory,
        scheduler,
        start: { api, entrypoint, label: id, config, secrets, allowHosts, values, describes: false },
      },
      {
        line: (line) => this.#take(line),
        config: (fields) => {
          this.#config = fields;
          const { config: given, secrets: secret } = settings;
          this.#record.missing = fields
            .filter((field) => !Object.hasOwn(given, field.id) && !Object.hasOwn(secret, field.id))
            .map((field) => field.id);
        },
        ended: (reason, isKilled) => this.#ended(reason, isKilled),
      },
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
      this.#record.failedStarts = 0;
      log.info({}, `${this.#name} has started`);
      if (!this.#isOk && this.#status === undefined) this.#setStatus('connecting', '');
    } else if ('lacks' in line) {
      const lacks = `config: ${this.#name} also needs ${line.lacks.join(', ')}; the module was not started`;
      this.#record.refused = lacks;
      this.#fail(new HubError('cannot-start', lacks));
    } else if ('done' in line) this.#done(line.done, line.error);
    else if ('log' in line) {
      this.#note(line.log, line.text);
      log[line.log]({}, `${this.#name}: ${line.text}`, `${line.log} of the module`);
    } else if ('denied' in line) {
      this.#note('warn', `not permitted to ${line.denied}`);
      log.warn(
        {},
        `${this.#name} was not permitted to ${line.denied}`,
        `denied: ${line.denied.split(' ', 2).join(' ')}`,
      );
    }
  }

  #setStatus(status: string, message: string): void {
    this.#status = status;
    this.#message = message;
    this.#isOk = status === 'ok';
    if (this.#isOk) {
      this.#loss.end();
      this.#emit({ state: 'running' });
      this.#emit({ stale: false });
      return;
    }
    this.#goOffline(statusText(status, message));
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

  #ended(reason: string, isKilled: boolean): void {
    const { scheduler } = this.#context;
    const record = this.#record;
    this.#actions.clear();
    this.#status = undefined;
    this.#startedAt = undefined;
    const ran = this.#isReady ? scheduler.now() - this.#readyMs : 0;
    this.#goOffline(`${reason}; the hub starts it again`);
    this.#note('error', `ended: ${reason}`);
    this.#context.log.warn({}, `${this.#name} ended: ${reason}`, 'the module ended');
    if (ran >= provenMs) record.kills = 0;
    if (isKilled && ++record.kills >= maxKills) {
      record.refused = `${this.#name} was killed ${record.kills} times, most recently because ${reason}; restart the connection to try again`;
      this.#fail(new HubError('cannot-start', record.refused));
      return;
    }
    if (!this.#isReady && ++record.failedStarts >= maxFailedStarts) {
      const times = `${record.failedStarts} times before it was ready`;
      this.#fail(new HubError('cannot-start', `${this.#name} ended ${times}, most recently because ${reason}`));
      return;
    }
    this.#isReady = false;
    record.restarts++;
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
    if (!this.#isOk) throw new HubError('unavailable', `${id}: the module's device is offline`);
    if (this.#actions.size >= maxActions)
      throw new HubError('unavailable', `${id}: expected at most ${maxActions} unanswered actions`);
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
    this.#child?.send({ act, action, options: filledOptions(options, value) });
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

/** Returns a status as text, such as `connection failure: ECONNREFUSED`. */
function statusText(status: string, message: string): string {
  const plain = status.replaceAll('_', ' ');
  return message === '' ? plain : `${plain}: ${message}`;
}
