// Keeps one connection running: starts the connection, passes its values to the graph, shows its state, and restarts it with backoff after
// a crash, without affecting other connections.
import {
  BehaviorSubject,
  concat,
  defer,
  from,
  type Observable,
  type SchedulerLike,
  Subject,
  Subscription,
  throwError,
  timer,
} from 'rxjs';
import { filter, finalize, retry, switchMap, tap } from 'rxjs/operators';
import type { ConnectionContext, ConnectionEvent, Log } from '../../../connections/connection.ts';
import type { HubPort } from '../../../connections/hub-port.ts';
import { createCausalScheduler } from '../../../graph/causal-scheduler.ts';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode, StateNode } from '../../../graph/parameter-node.ts';
import { SettleCall, type SettlePlace } from '../../../graph/settle-queue.ts';
import { formatAddress, parseAddress } from '../../../model/address.ts';
import { groupDigits } from '../../../model/digits.ts';
import { HubError, messageOf } from '../../../model/error.ts';
import { type Account, held, textBytes } from '../../../model/held-bytes.ts';
import type {
  Absence,
  Change,
  DeviceState,
  Origin,
  Parameter,
  ParameterDeclaration,
} from '../../../model/parameter.ts';
import type { ConnectionState, ConnectionStatus, DeviceStatus } from '../../../model/reports/connection-status.ts';
import { WireLog } from '../../../model/reports/wire-log.ts';
import { withoutSecrets } from '../../../model/secret.ts';
import { Backoff, restartTimes } from '../../../model/time/backoff.ts';
import { wallClock } from '../../../model/time/wall-clock.ts';
import type { Value } from '../../../model/value.ts';
import { type ConnectionPlan, statusParameterId } from '../../plan.ts';
import type { HubPersistence } from './hub-persistence.ts';

export interface SupervisorOptions {
  readonly plan: ConnectionPlan;
  readonly owner: Origin;
  readonly graph: Graph;
  /** The hub as gateways see it; undefined if there are no gateways. */
  readonly hub: HubPort | undefined;
  readonly scheduler: SchedulerLike;
  readonly persistence: HubPersistence;
  readonly log: Log;
  readonly resolvePath: (path: string) => string;
  /** Returns whether a failing gateway ends the hub, which then reports the failure with its location. */
  endsHub(): boolean;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  #plan: ConnectionPlan;
  /** The recent frames exchanged with the connection's device. */
  readonly wire = new WireLog();
  readonly #log: Log;
  readonly #settings = new Subject<unknown>();
  readonly #parameters: OwnParameters;
  readonly #status: LiveStatus;
  readonly #held: HeldWrites;
  /** Work that has begun and must be completed before the hub ends, such as writing a file. */
  readonly #unfinished = new Set<Promise<unknown>>();
  readonly #backoff = new Backoff(restartTimes);
  readonly #settlePlace: SettlePlace;
  #startedAt = 0;
  #subscription = Subscription.EMPTY;

  constructor(options: SupervisorOptions) {
    const { plan, graph, owner } = options;
    const secretsOf = () => this.#plan.secrets;
    const log = secretLog(options.log, secretsOf);
    this.#options = options;
    this.#plan = plan;
    this.#log = log;
    this.#parameters = new OwnParameters(graph, owner, plan, log);
    this.#status = new LiveStatus(plan, this.#parameters, log, secretsOf, options.endsHub);
    this.#held = new HeldWrites(graph, owner, log);
    this.#settlePlace = { order: plan.settleOrder };
  }

  /** Replays the current status. Completes when the connection is stopped. Never errors. */
  get status$(): Observable<SupervisedStatus> {
    return this.#status.status$;
  }

  get status(): SupervisedStatus {
    return this.#status.present;
  }

  /** The state of the connection's device. Undefined if there is no device, or if the state has not been reported yet. */
  get device(): DeviceStatus | undefined {
    const { type, settings } = this.#plan;
    const found = this.#parameters.deviceStatus;
    return found && { ...found, isSimulated: type.isSimulated?.(settings) === true };
  }

  /** Whether the connection has work in progress that must be completed before the hub ends. */
  get isBusy(): boolean {
    return this.#unfinished.size > 0;
  }

  /** Sets the status to the reason why the connection is not started although its settings enable it. */
  hold({ state, reason }: Pick<SupervisedStatus, 'state' | 'reason'>): void {
    this.#status.enter(state, reason);
  }

  /** Starts the connection, either immediately or when `ready` resolves. Until then, writes to the connection are held. */
  start(ready?: Promise<unknown>): void {
    if (!this.#plan.enabled) {
      this.#status.showConnected(false);
      return;
    }
    const running$ = ready === undefined ? this.#run() : this.#runWhen(ready);
    this.#subscription = new Subscription();
    this.#subscription.add(
      running$.subscribe({
        next: (event) => this.#handle(event),
        error: (error) => this.#status.enter('failed', messageOf(error)),
      }),
    );
  }

  /** Makes the running connection continue with another plan. */
  takeOver(plan: ConnectionPlan): void {
    this.#plan = plan;
    this.#settings.next(plan.settings);
  }

  /** Changes the connection's description, which the status shows. */
  describe(description: string): void {
    this.#status.describe(description);
  }

  /** Changes the position of the connection's work among all work that waits until a turn has settled. */
  settleAt(order: number): void {
    this.#settlePlace.order = order;
  }

  /**
   * Stops the connection. Resolves when the connection has finished its work. If a reason is given, the status becomes disabled. Never
   * rejects.
   */
  async stop(reason?: string): Promise<void> {
    try {
      this.#subscription.unsubscribe();
    } catch (error) {
      this.#log.warn({}, `failed to stop: ${messageOf(error)}`);
    }
    this.#held.forget();
    this.#parameters.ageIfDevice();
    this.#parameters.withdrawDiscovered(); // the next start discovers them again
    if (reason !== undefined) this.#status.enter('disabled', reason);
    this.#status.complete();
    await Promise.all(this.#unfinished);
  }

  /** Returns the connection's events. The connection is restarted after each crash. */
  #run(): Observable<ConnectionEvent> {
    const { hub, scheduler } = this.#options;
    const { type } = this.#plan;
    return defer(() => {
      this.#startedAt = scheduler.now();
      const context = this.#createContext();
      return type.isGateway ? type.run(context, hub!) : type.run(context, hub);
    }).pipe(endIsCrash(), retry({ delay: (error) => this.#backOff(error) }));
  }

  /** Like `#run`, but starts the connection when a promise resolves. Until then, writes to the connection are held. */
  #runWhen(ready: Promise<unknown>): Observable<ConnectionEvent> {
    const holding = this.#held.hold();
    return from(ready).pipe(
      finalize(() => holding.unsubscribe()),
      tap(() => holding.unsubscribe()),
      switchMap(() => this.#run()),
    );
  }

  #handle(event: ConnectionEvent): void {
    if (!this.#mayAct()) return;
    if ('set' in event) {
      const cause = 'because' in event ? event.because : this.#options.graph.cause;
      if (event.isRestored === true && this.#parameters.restore(event.set, event.value)) return;
      this.#parameters.set(event.set, event.own, event.value, cause);
    } else if ('state' in event) this.#status.enter(event.state, event.state === 'degraded' ? event.reason : '');
    else this.#handleDevice(event);
  }

  /** Handles an event from the connection's device that is not a value. */
  #handleDevice(event: Exclude<ConnectionEvent, { readonly set: string } | { readonly state: string }>): void {
    if ('unset' in event) this.#parameters.unset(event.unset);
    else if ('settle' in event) this.#parameters.settle(event.settle, event.error);
    else if ('stale' in event) this.#parameters.age(event.stale, event.device);
    else if ('declare' in event) this.#parameters.declare(event.declare);
    else this.#parameters.withdraw(event.withdraw);
  }

  /** Returns whether the connection may still act, that is, whether the hub's term has not ended. */
  #mayAct(): boolean {
    const { graph, plan } = this.#options;
    return graph.mayAct === undefined || plan.type.isGateway === true || graph.mayAct();
  }

  #backOff(error: unknown): Observable<unknown> {
    const { scheduler } = this.#options;
    this.#backoff.ran(scheduler.now() - this.#startedAt);
    const isFailed = error instanceof HubError && error.code === 'cannot-start';
    this.#parameters.ageIfDevice();
    this.#status.enter(isFailed ? 'failed' : 'degraded', messageOf(error));
    return timer(this.#backoff.next(), scheduler);
  }

  #createContext(): ConnectionContext<unknown> {
    const { graph, scheduler, persistence, resolvePath } = this.#options;
    const plan = this.#plan;
    return {
      id: plan.id,
      settings: plan.settings,
      settings$: this.#settings.asObservable(),
      scheduler: createCausalScheduler(graph, scheduler, () => this.#mayAct()),
      timeOfDay: () => graph.now(),
      log: this.#log,
      withoutSecrets: (text) => withoutSecrets(text, this.#plan.secrets),
      resolvePath,
      own: (parameterId) => this.#parameters.find(parameterId),
      inbox: (parameterId, accept) => this.#parameters.accepting(parameterId, accept, this.#inbox(parameterId)),
      inputTypes: plan.inputTypes,
      input: (name) => graph.get(plan.inputs[name]!),
      cause: () => graph.cause,
      wire: (direction, bytes, fault) => this.wire.add(direction, bytes, fault),
      wireReceived: (frames, from, end) => this.wire.addReceived(frames, from, end),
      lastChange: (name) => graph.find(plan.inputs[name]!)?.lastChange,
      turn: (work) => graph.turn(work),
      atSettle: (work) => this.#prepareToSettle(work),
      finish: (work) => this.#finish(work),
      restored: persistence.valuesOf(plan),
      memory: persistence.memoryOf(plan),
      left: persistence.takeLeft(plan),
      leave: (what) => persistence.leave(plan, what),
    };
  }

  #inbox(parameterId: string): Observable<Value> {
    const inbox = this.#held.inbox(parameterId);
    return this.#options.graph.mayAct === undefined ? inbox : inbox.pipe(filter(() => this.#mayAct()));
  }

  #finish(work: Promise<unknown>): void {
    const ended = work.catch((error) =>
      this.#log.warn({}, `stopped before its work was finished: ${messageOf(error)}`),
    );
    this.#unfinished.add(ended);
    ended.finally(() => this.#unfinished.delete(ended));
  }

  #prepareToSettle(settle: () => void): () => void {
    const { graph } = this.#options;
    const task = new SettleCall(this.#settlePlace, settle);
    return () => graph.atSettle(task);
  }
}

/** Turns completion into an error, because a connection runs until it is stopped. */
function endIsCrash<T>(): (source: Observable<T>) => Observable<T> {
  return (source) =>
    concat(
      source,
      throwError(() => new Error('the connection ended unexpectedly')),
    );
}

// The status of a connection: shown, logged when it changes, and written to its status parameter.

/** The parts of a connection's status that its supervisor knows. */
type SupervisedStatus = Omit<ConnectionStatus, 'enabled' | 'parameters' | 'file' | 'wire' | 'device'>;

/** The interval at which the log repeats a reason in which only counts have changed, in milliseconds. */
const countsEveryMs = 60_000;

/**
 * Removes the counts from a reason, such as those in `of 12 files 3 are not kept (1 MB)`. Addresses, versions and locations are not counts.
 */
function withoutCounts(reason: string): string {
  return reason.replaceAll(/(?<![\w.:/-])\d{1,3}(,?\d{3})*(\.\d+)?(?![\w.:/-])/g, '');
}

class LiveStatus {
  readonly #status$: BehaviorSubject<SupervisedStatus>;
  readonly #parameters: OwnParameters;
  readonly #log: Log;
  readonly #secretsOf: () => readonly string[];
  readonly #endsHub: () => boolean;
  #since = wallClock.pin(wallClock.now());
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(
    { id, type, description, enabled }: ConnectionPlan,
    parameters: OwnParameters,
    log: Log,
    secretsOf: () => readonly string[],
    endsHub: () => boolean,
  ) {
    this.#parameters = parameters;
    this.#log = log;
    this.#secretsOf = secretsOf;
    this.#endsHub = endsHub;
    this.#status$ = new BehaviorSubject<SupervisedStatus>({
      id,
      type: type.type,
      description: withoutSecrets(description, secretsOf()),
      state: enabled ? 'degraded' : 'disabled',
      reason: enabled ? 'starting' : '',
      since: this.#since(),
    });
  }

  /** Replays the current status. Completes when the connection is stopped. Never errors. */
  get status$(): Observable<SupervisedStatus> {
    return this.#status$.asObservable();
  }

  get present(): SupervisedStatus {
    return { ...this.#status$.value, since: this.#since() };
  }

  describe(text: string): void {
    const description = withoutSecrets(text, this.#secretsOf());
    if (description !== this.present.description) this.#status$.next({ ...this.present, description });
  }

  enter(state: ConnectionState, why: string): void {
    const reason = withoutSecrets(why, this.#secretsOf());
    const last = this.present;
    if (last.state === state && last.reason === reason) return;
    const isSame = last.state === state && withoutCounts(last.reason) === withoutCounts(reason);
    if (!isSame) this.#since = wallClock.pin(wallClock.now());
    this.#status$.next({ ...last, state, reason, since: this.#since() });
    if (isSame && performance.now() - this.#loggedMs < countsEveryMs) return;
    if (state === 'failed' && this.#endsHub()) return; // the connection's error has the same sentence
    this.#loggedMs = performance.now();
    const message = `connection "${last.id}" is ${state}${reason && `: ${reason}`}`;
    if (state === 'failed') this.#log.error({}, message);
    else if (state === 'degraded') this.#log.warn({}, message);
    else this.#log.info({}, message);
    this.showConnected(state === 'running');
  }

  /** Updates the connection's status parameter, if there is one, to show whether the connection is connected. */
  showConnected(isConnected: boolean): void {
    this.#parameters.setIfThere(statusParameterId, isConnected);
  }

  complete(): void {
    this.#status$.complete();
  }
}

// The parameters of one connection, which the connection finds and sets while it is running.

/** The maximum number of a device's offline periods that are kept. */
const keptAbsences = 8;

/** Records that a device has gone offline or is online again, at a revision. */
function noteAbsence(device: OwnDevice, revision: number): void {
  const { absences, staleSince } = device;
  const last = absences.at(-1);
  if (staleSince !== undefined) {
    absences.push({ since: staleSince, fromRevision: revision, toRevision: undefined });
    if (absences.length > keptAbsences) absences.shift();
  } else if (last !== undefined) absences[absences.length - 1] = { ...last, toRevision: revision };
}

interface OwnDevice extends DeviceState {
  readonly absences: Absence[];
}

class OwnParameters {
  readonly #graph: Graph;
  readonly #owner: Origin;
  readonly #log: Log;
  /** The parameters that were found so far, keyed by Parameter ID. */
  readonly #found = new Map<string, ParameterNode>();
  /** The functions of inboxes that have a subscriber, keyed by parameter, along with the declared functions that they replace. */
  readonly #accepted = new Map<StateNode, { readonly accept: StateNode['accept']; declared: StateNode['accept'] }>();
  /** The parameters declared in the plan, kept until the connection turns out to be a device. */
  #plan: readonly ParameterDeclaration[];
  /** The IDs of the parameters that a device has announced. */
  readonly #discovered = new Set<string>();
  /**
   * The devices, keyed by name; undefined stands for the connection itself. A device is added when the connection reports whether the
   * device is online.
   */
  readonly #devices = new Map<string | undefined, OwnDevice>();
  /** The Parameter IDs of each device, keyed by the device's name. */
  readonly #idsOf = new Map<string | undefined, Set<string>>();
  readonly #deviceOf = new Map<string, string>();

  constructor(graph: Graph, owner: Origin, { parameters }: ConnectionPlan, log: Log) {
    this.#graph = graph;
    this.#owner = owner;
    this.#plan = parameters;
    this.#log = log;
  }

  get deviceStatus(): Pick<DeviceStatus, 'staleSince' | 'pending'> | undefined {
    const device = this.#devices.get(undefined);
    if (device === undefined) return undefined;
    let pending = 0;
    for (const { wanted } of this.#found.values()) if (wanted !== undefined) pending++;
    return { staleSince: device.staleSince, pending };
  }

  find(parameterId: string): ParameterNode | undefined {
    const known = this.#found.get(parameterId);
    if (known !== undefined) return known;
    const node = this.#graph.find(formatAddress(this.#owner.name, parameterId));
    if (node !== undefined) this.#found.set(parameterId, node);
    return node;
  }

  /**
   * Returns an inbox for writes to a parameter. While the inbox has a subscriber, the parameter takes the value that `accept` returns; if
   * `accept` is undefined, the declared function applies.
   */
  accepting(parameterId: string, accept: ParameterDeclaration['accept'], inbox: Observable<Value>): Observable<Value> {
    const node = this.find(parameterId);
    if (accept === undefined || node === undefined || node.type === 'T') return inbox;
    const state = node as StateNode;
    return defer(() => {
      const before = this.#accepted.get(state);
      const own = { accept, declared: before === undefined ? state.accept : before.declared };
      this.#accepted.set(state, own);
      state.accept = accept;
      return inbox.pipe(
        finalize(() => {
          if (this.#accepted.get(state) !== own) return; // a later inbox of the parameter has its own function
          this.#accepted.delete(state);
          state.accept = own.declared;
        }),
      );
    });
  }

  /** Sets a parameter, either given or found by its ID, as the effect of a change. A value that cannot be set is logged. */
  set(parameterId: string, own: Parameter | undefined, value: unknown, cause: Change | undefined): void {
    try {
      const node = (own as ParameterNode | undefined) ?? this.find(parameterId);
      if (node === undefined) throw new Error('the connection has no such parameter');
      this.#graph.writeTo(node, value, this.#owner, cause);
    } catch (error) {
      this.#log.warn(
        { parameter: parameterId },
        `cannot set ${parameterId}: ${messageOf(error)}`,
        `cannot set ${parameterId}`,
      );
    }
  }

  unset(parameterId: string): void {
    const node = this.find(parameterId);
    if (node !== undefined && node.type !== 'T') this.#graph.turn(() => this.#graph.forget(node as StateNode));
  }

  settle(parameterId: string, error: HubError): void {
    const node = this.find(parameterId);
    if (node !== undefined && node.type !== 'T') this.#graph.settle(node as StateNode, error);
  }

  /**
   * Sets a value that the device already had, without running rules. Returns false if a value is already known or the parameter cannot be
   * set this way.
   */
  restore(parameterId: string, value: unknown): boolean {
    const node = this.find(parameterId);
    if (node === undefined || node.type === 'T' || node.value !== undefined) return false;
    try {
      this.#graph.show(node as StateNode, value, this.#owner);
      return true;
    } catch {
      return false; // `set` reports the error
    }
  }

  /**
   * Marks the values of one device as stale or fresh. Without a name, marks the connection's own values and, if stale, those of all its
   * devices.
   */
  age(isStale: boolean, name?: string): void {
    this.#assign(this.#plan);
    this.#plan = [];
    if (name !== undefined) {
      this.#ageDevice(isStale, name);
      return;
    }
    this.#ageDevice(isStale, undefined);
    if (isStale) for (const one of this.#devices.keys()) this.#ageDevice(true, one);
  }

  #ageDevice(isStale: boolean, name: string | undefined): void {
    const known = this.#devices.get(name);
    if (known !== undefined && (known.staleSince !== undefined) === isStale) return;
    const device = known ?? { staleSince: undefined, isPart: name !== undefined, absences: [] };
    this.#devices.set(name, device);
    device.staleSince = isStale ? this.#graph.now() : undefined;
    noteAbsence(device, this.#graph.revision);
    const nodes = [...(this.#idsOf.get(name) ?? [])].flatMap((id) => this.find(id) ?? []);
    for (const node of nodes) node.device = device;
    if (isStale)
      for (const node of nodes)
        if (node.wanted !== undefined)
          this.#graph.settle(node as StateNode, new HubError('unavailable', `${node.address}: the device is offline`));
    this.#graph.notifyMarked(nodes);
  }

  /** Marks the connection's values as stale if the connection has a device. */
  ageIfDevice(): void {
    if (this.#devices.size > 0) this.age(true);
  }

  #release(id: string): void {
    const name = this.#deviceOf.get(id);
    const ids = this.#idsOf.get(name);
    this.#deviceOf.delete(id);
    ids?.delete(id);
    if (name === undefined || ids === undefined || ids.size > 0) return;
    this.#idsOf.delete(name);
    this.#devices.delete(name);
  }

  #assign(declarations: readonly ParameterDeclaration[]): void {
    for (const { id, device } of declarations) {
      if (device !== undefined) this.#deviceOf.set(id, device);
      const ids = this.#idsOf.get(device);
      if (ids === undefined) this.#idsOf.set(device, new Set([id]));
      else ids.add(id);
    }
  }

  /** Adds parameters that a device has announced. A parameter that is already declared takes over the announced properties. */
  declare(declarations: readonly ParameterDeclaration[]): void {
    for (const { id } of declarations) if (this.find(id) === undefined) this.#discovered.add(id);
    this.#graph.declare(this.#owner, declarations);
    this.#assign(this.#plan);
    this.#plan = [];
    for (const { id, device } of declarations) if (this.#deviceOf.get(id) !== device) this.#release(id);
    this.#assign(declarations);
    for (const { id, device, accept } of declarations) {
      const node = this.find(id);
      if (node === undefined) continue;
      node.device = this.#devices.get(device);
      const accepted = this.#accepted.get(node as StateNode);
      if (accepted === undefined) continue;
      accepted.declared = accept;
      (node as StateNode).accept = accepted.accept;
    }
    this.#graph.notifyMirrored();
  }

  withdraw(parameterIds: readonly string[]): void {
    const nodes = parameterIds.flatMap((id) => this.find(id) ?? []);
    for (const id of parameterIds) {
      this.#found.delete(id);
      this.#discovered.delete(id);
    }
    for (const id of parameterIds) this.#release(id);
    this.#graph.remove(nodes);
    this.#graph.notifyMirrored();
  }

  withdrawDiscovered(): void {
    if (this.#discovered.size > 0) this.withdraw([...this.#discovered]);
  }

  /** Sets a parameter if the connection has this parameter and no other hub is running the connection instead of this hub. */
  setIfThere(parameterId: string, value: unknown): void {
    const node = this.find(parameterId);
    if (node !== undefined && node.remote === undefined) this.#graph.writeTo(node, value, this.#owner);
  }
}

// Holds writes to a connection that waits before it starts. The connection's inboxes emit the held writes first.

/** The maximum number of held writes to one parameter; the latest writes are kept. */
const maxHeldWrites = 1024;
/**
 * The maximum size of all writes held for a connection, in bytes. When the limit is exceeded, the oldest writes to the same parameter are
 * dropped, and the new write as well if dropping them does not suffice.
 */
const maxHeldBytes = 16 * 1024 * 1024;
/** The size of a held write without its string, in bytes. */
const writeBytes = 16;
const heldTooMany = `more than ${groupDigits(maxHeldWrites)} writes were waiting for the connection to start; the oldest one was dropped`;
const heldTooMuch = `more than ${maxHeldBytes / 1024 / 1024} MB of writes were waiting for the connection to start; one was dropped`;
const heldInAll = 'the hub holds too much data, so the writes waiting for the connection to start were dropped';

export class HeldWrites {
  readonly #graph: Graph;
  readonly #owner: Origin;
  readonly #log: Log;
  readonly #account: Account;
  /** The queued values, keyed by Parameter ID, oldest first. */
  readonly #queues = new Map<string, Value[]>();

  constructor(graph: Graph, owner: Origin, log: Log) {
    this.#graph = graph;
    this.#owner = owner;
    this.#log = log;
    this.#account = held.open({ kind: 'writes', owner: `connection "${owner.name}"`, letGo: () => this.#letGo() });
  }

  /** Holds writes from other parties to the connection's parameters, until the returned subscription ends. */
  hold(): Subscription {
    const holding = new Subscription();
    for (const node of this.#graph.parameters()) {
      if (node.owner !== this.#owner || node.access === 'read-only') continue;
      const { parameterId } = parseAddress(node.address);
      holding.add(
        this.#graph.inbox(node.address).subscribe({
          next: (value) => this.#add(parameterId, value),
          error: () => {}, // inboxes never fail
        }),
      );
    }
    return holding;
  }

  /** Returns the writes from other parties to a parameter, beginning with the held writes. */
  inbox(parameterId: string): Observable<Value> {
    const inbox = this.#graph.inbox(formatAddress(this.#owner.name, parameterId));
    const values = this.#queues.get(parameterId);
    if (values === undefined) return inbox;
    this.#queues.delete(parameterId);
    this.#account.add(-values.reduce<number>((sum, value) => sum + bytesOf(value), 0));
    return concat(values, inbox);
  }

  /** Drops all held writes because the connection has ended. */
  forget(): void {
    this.#queues.clear();
    this.#account.set(0);
  }

  #add(parameterId: string, value: Value): void {
    const values = this.#queues.get(parameterId) ?? [];
    this.#queues.set(parameterId, values);
    const bytes = bytesOf(value);
    const isTooMuch = () => this.#account.bytes + bytes > maxHeldBytes;
    if (values.length === maxHeldWrites) {
      this.#log.warn({ parameter: parameterId }, `${parameterId}: ${heldTooMany}`, 'too many held writes');
      this.#dropOldest(values);
    }
    if (isTooMuch()) {
      this.#log.warn({ parameter: parameterId }, `${parameterId}: ${heldTooMuch}`, 'held writes too large');
      while (values.length > 0 && isTooMuch()) this.#dropOldest(values);
      if (isTooMuch()) return;
    }
    values.push(value);
    this.#account.add(bytes);
  }

  #dropOldest(values: Value[]): void {
    this.#account.add(-bytesOf(values.shift()!));
  }

  #letGo(): void {
    this.forget();
    this.#log.warn({}, heldInAll, 'too much held data');
  }
}

function bytesOf(value: Value): number {
  return writeBytes + (typeof value === 'string' ? textBytes(value) : 0);
}

// A log for a connection whose settings contain secrets. No entry shows a secret.

/** Returns a log that hides secrets. `secretsOf` returns the secrets at the time of a log entry. */
export function secretLog(log: Log, secretsOf: () => readonly string[]): Log {
  const hide = (text: string) => withoutSecrets(text, secretsOf());
  const hideIn = (data: object) =>
    Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, typeof value === 'string' ? hide(value) : value]),
    );
  const entry =
    (level: 'debug' | 'info' | 'warn' | 'error'): Log['info'] =>
    (data, message, kind) =>
      log[level](hideIn(data), hide(message), ...(kind === undefined ? [] : ([hide(kind)] as const)));
  const entries = { debug: entry('debug'), info: entry('info'), warn: entry('warn'), error: entry('error') };
  return { ...(log.isDebugging !== undefined && { isDebugging: log.isDebugging }), ...entries };
}
