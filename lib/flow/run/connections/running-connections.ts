// The running connections. A reload stops and starts only the connections that it changes.
import { resolve } from 'node:path';
import { Subscription } from 'rxjs';
import type { Log } from '../../../connections/connection.ts';
import type { HeldBack } from '../../../connections/mirroring.ts';
import type { Graph } from '../../../graph/graph.ts';
import { unknownName } from '../../../json5/nearest-name.ts';
import { HubError } from '../../../model/error.ts';
import type { Origin } from '../../../model/parameter.ts';
import type { ConnectionAction, ConnectionStatus, Way } from '../../../model/reports/connection-status.ts';
import type { SwitchTerm } from '../../../model/reports/rule-status.ts';
import { type ShownFrame, showFrame } from '../../../model/reports/wire-log.ts';
import { withoutSecrets } from '../../../model/secret.ts';
import { within } from '../../../model/time/deadline.ts';
import { describeTrace } from '../../../model/writer.ts';
import { type ConnectionPlan, haveSameSettings, hubId } from '../../plan.ts';
import type { Difference } from '../difference.ts';
import type { ManualSwitches, Switchable } from '../manual-switches.ts';
import {
  type ComingConnection,
  type ConnectionChange,
  clashOf,
  DeclaredParameters,
  diffConnections,
  type Exchange,
  expectStarted,
  goesFirst,
  Holds,
  isGateway,
  isSame,
  isWork,
  type Placing,
  type RunningConnection,
  statusOf,
  takeableOf,
  toRun,
  toRunAfter,
  waysOf,
  whyStopped,
  withoutDeclarations,
} from './running-connection.ts';
import { Supervisor, type SupervisorOptions } from './supervisor.ts';

interface ConnectionRuntime extends Pick<SupervisorOptions, 'graph' | 'hub' | 'scheduler' | 'persistence'> {
  readonly switches: ManualSwitches;
  readonly logOf: (connectionId: string) => Log;
}

/** How long a connection waits for its predecessor to release a resource that both claim, such as a port or file, in milliseconds. */
const longestWaitMs = 1800;

export class RunningConnections {
  readonly #runtime: ConnectionRuntime;
  readonly #parameters: DeclaredParameters;
  readonly #stopping = new Set<Promise<void>>();
  /** A promise for each connection that is part of the hub's work and is still stopping. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #holds = new Holds();
  /** The running connections, keyed by Connection ID, in the order of the flow files. */
  #running: ReadonlyMap<string, RunningConnection> = new Map();

  /** Resolves when a store that starts first has restored its values; undefined if connections do not have to wait for a store. */
  #restored: Promise<unknown> | undefined;

  readonly #missing: MissingInputs;
  /** Whether the hub has started. Until then, a failing gateway ends the hub. */
  #hasStarted = false;

  constructor(runtime: ConnectionRuntime) {
    this.#runtime = runtime;
    this.#parameters = new DeclaredParameters(runtime.graph);
    this.#missing = new MissingInputs(runtime.graph, () => this.#waitOrStart());
  }

  statuses(): ConnectionStatus[] {
    return [...this.#running.values()].map(statusOf);
  }

  *ways(): Generator<Way, void, void> {
    for (const { plan } of this.#running.values()) yield* waysOf(plan);
  }

  /** Returns whether the parameters of a connection concern only this hub, as with gateways and the hub itself. */
  isLocal(id: string): boolean {
    const found = this.#running.get(id);
    return found === undefined || id === hubId || isGateway(found.plan);
  }

  /** Returns whether a connection with this ID exists, including the hub itself. */
  has(id: string): boolean {
    return id === hubId || this.#running.has(id);
  }

  /** Returns whether a connection has effects outside the process, or false if the connection is unknown. */
  isExternal(id: string): boolean {
    return this.#running.get(id)?.plan.type.isExternal ?? false;
  }

  /** Records that the hub has started, so that failing gateways no longer end the hub. */
  started(): void {
    this.#hasStarted = true;
  }

  /** Returns the supervisors of all gateways. */
  gateways(): Supervisor[] {
    return [...this.#running.values()].filter(({ plan }) => isGateway(plan)).map(({ supervisor }) => supervisor);
  }

  /**
   * Starts, stops or restarts a connection, until a reload changes its settings. Errors: `not-found`, which suggests the most similar name;
   * `conflict` if the connection's state does not allow the action.
   */
  control(id: string, action: ConnectionAction, by: Origin, term?: SwitchTerm): ConnectionStatus {
    const connection = this.#running.get(id);
    if (connection === undefined)
      throw new HubError('not-found', unknownName('connection', id, [...this.#running.keys()]));
    const { state } = connection.supervisor.status;
    const isStopped = state === 'disabled';
    const { hold } = connection;
    if (hold !== undefined && action !== 'stop')
      throw new HubError('conflict', `${action}: "${id}" is on hold: ${hold.reason}`);
    if (isStopped !== (action === 'start'))
      throw new HubError(
        'conflict',
        `${action}: expected ${isStopped ? 'an enabled' : 'a disabled'} connection, but "${id}" is ${state}`,
      );
    const isOn = action !== 'stop';
    const switched =
      action === 'restart'
        ? connection.switched
        : isOn === connection.enabled && term === undefined
          ? undefined
          : { isOn, by, term };
    const changed = { ...connection, plan: { ...connection.plan, enabled: isOn }, switched, hold: undefined };
    if (isStopped) this.#assertFree(changed.plan);
    // A store receives the event about its own start after it has started, and the event about its end before it ends.
    const auditEvent = {
      kind: 'connection',
      user: by.name,
      address: id,
      after: action,
      cause: describeTrace(by),
    } as const;
    const note = () => this.#runtime.persistence.note(auditEvent);
    if (!isStopped) note();
    this.#runtime.switches.note(switchableOf(connection.plan), switched);
    if (action === 'stop') {
      this.#stop(connection, whyStopped({ isOn, by }));
      this.#running = new Map(this.#running).set(id, changed);
    } else this.#start([changed], this.#stopAll([connection]));
    if (isStopped) note();
    return statusOf(this.#running.get(id)!);
  }

  /**
   * Returns the recent frames of a connection with a number greater than `after`, with secrets masked. Errors: `not-found`, which suggests
   * the most similar name.
   */
  wire(id: string, after: number): readonly ShownFrame[] {
    const connection = this.#running.get(id);
    if (connection === undefined)
      throw new HubError('not-found', unknownName('connection', id, [...this.#running.keys()]));
    const mask = (text: string) => withoutSecrets(text, connection.plan.secrets);
    return connection.supervisor.wire
      .after(after)
      .map((frame) => showFrame(frame, mask, connection.plan.type.showFrame));
  }

  /** Declares the parameters of connections, before any connection is running. */
  declare(plans: readonly ConnectionPlan[]): void {
    for (const plan of plans) this.#parameters.declare(plan);
  }

  /** Holds all connections except gateways, for the given reason. */
  holdAll(reason: string): void {
    this.#holds.all = reason;
    this.#restored = undefined;
    this.#follow();
    for (const { plan, hold } of this.#running.values())
      if (hold !== undefined) this.#runtime.persistence.takeLeft(plan); // another hub continues the work
  }

  /**
   * Starts the connections that `holdAll` holds. The returned promise resolves when a store that starts first has restored its values, or
   * has taken longer than `patienceMs`. Returns undefined if there is no such store.
   */
  releaseAll(patienceMs: number): Promise<unknown> | undefined {
    this.#holds.all = undefined;
    const waits = [...this.#running.values()].some(({ plan, hold }) => hold !== undefined && goesFirst(plan));
    this.#restored = waits ? this.#runtime.persistence.expectRestore(patienceMs) : undefined;
    this.#follow();
    return this.#restored;
  }

  /** Holds individual connections, and starts the connections that are no longer held. */
  holdSome(some: HeldBack): void {
    this.#holds.some = some;
    this.#follow();
  }

  /** Resolves when the stopping connections, except gateways that always run, have finished their work, or after a time limit. */
  async whenQuiet(): Promise<void> {
    await undefined; // while all connections are stopping, a waiting gateway may be the first
    await within(Promise.all(this.#leaving), longestWaitMs);
  }

  /** Starts and stops connections whose hold has begun or ended. */
  #follow(): void {
    const changed = [...this.#running.values()].filter(({ plan, hold }) => !isSame(hold, this.#holds.of(plan)));
    this.#start(changed, this.#stopAll(changed));
  }

  /** Returns the differences between plans and the running connections. */
  diff(plans: readonly ConnectionPlan[]): ConnectionChange {
    return diffConnections(this.#running, plans, this.#parameters);
  }

  /**
   * Starts the first gateways. Errors: `cannot-start` if a gateway cannot start. The other gateways then run until `stop`, so that a store
   * receives the events before the hub ends.
   */
  startGateways({ gateways }: ConnectionChange, plan: Placing): void {
    expectStarted(
      this.#exchange(gateways).map(({ supervisor }) => supervisor.status),
      plan,
    );
  }

  /** Swaps gateways. Errors: `cannot-start` if a gateway cannot start, in which case the previous gateways run again. */
  swapGateways({ gateways }: ConnectionChange, plan: Placing): void {
    const started = this.#exchange(gateways);
    const statuses = started.map(({ supervisor }) => supervisor.status);
    try {
      expectStarted(statuses, plan);
    } catch (error) {
      this.#exchange({ leaving: started, coming: gateways.leaving.map(({ plan }) => plan) }, gateways.leaving);
      throw error;
    }
  }

  /** Swaps all connections that are not gateways. Call this after `swapGateways`. */
  swapOthers({ plans, gateways, others, takenOver, difference }: ConnectionChange): Difference {
    this.#exchange(others);
    this.#releaseChanged(gateways);
    this.#releaseChanged(others);
    for (const plan of takenOver) this.#running.get(plan.id)!.supervisor.takeOver(withoutDeclarations(plan));
    for (const plan of plans) {
      const { supervisor } = this.#running.get(plan.id)!;
      supervisor.settleAt(plan.settleOrder);
      supervisor.describe(plan.description);
    }
    this.#running = new Map(plans.map((plan) => [plan.id, this.#runningBy(plan)]));
    return difference;
  }

  /** Makes running connections adopt those changes that need no restart. Returns the adopted plans. */
  takeOver(plans: readonly ConnectionPlan[]): readonly ConnectionPlan[] {
    const taken = plans
      .map((plan) => takeableOf(this.#running.get(plan.id), plan))
      .filter((plan) => plan !== undefined);
    for (const plan of taken) this.#running.get(plan.id)!.supervisor.takeOver(withoutDeclarations(plan));
    this.#running = new Map([...this.#running, ...taken.map((plan) => [plan.id, this.#runningBy(plan)] as const)]);
    return taken;
  }

  /** Returns a running connection as it is after it has adopted another plan. */
  #runningBy(plan: ConnectionPlan): RunningConnection {
    const { supervisor, hold, switched, plan: before } = this.#running.get(plan.id)!;
    const next = toRun(plan);
    return { ...next, supervisor, hold, switched, plan: { ...next.plan, enabled: before.enabled } };
  }

  /** Returns plans as they would be after a reload, with `enabled` as switched by operators. */
  asSwitched(plans: readonly ConnectionPlan[]): readonly ConnectionPlan[] {
    return plans.map((plan) => {
      const { enabled } = this.#asLasting(toRunAfter(this.#running.get(plan.id), plan)).plan;
      return enabled === plan.enabled ? plan : { ...plan, enabled };
    });
  }

  /** Returns whether a connection is switched on, or undefined if there is no connection with this name. */
  isOn({ name }: Pick<Switchable, 'name'>): boolean | undefined {
    return this.#running.get(name)?.plan.enabled;
  }

  /** Reports the connections whose switch by an operator ends because their settings have changed. */
  #releaseChanged({ leaving, coming }: Exchange): void {
    const { switches } = this.#runtime;
    const after = new Map(coming.map((plan) => [plan.id, plan]));
    for (const { plan, switched } of leaving) {
      const next = switched && after.get(plan.id);
      if (switched === undefined || switched.term !== undefined || (next !== undefined && haveSameSettings(plan, next)))
        continue;
      switches.release(switchableOf(plan), switched, next?.enabled ?? switched.isOn, 'its settings have changed');
    }
  }

  /** Stops all connections. Resolves when the connections have finished their work. */
  async stop(): Promise<void> {
    this.#missing.stop();
    for (const connection of this.#running.values()) this.#stop(connection);
    await Promise.all(this.#stopping);
  }

  /** Stops connections, declares the parameters in the plans, and starts the plans as successors of `before`, in one turn. */
  #exchange({ leaving, coming }: Exchange, before = leaving): RunningConnection[] {
    const ready = this.#stopAll(leaving);
    const after = new Map(coming.map((plan) => [plan.id, plan]));
    const { persistence } = this.#runtime;
    for (const { plan } of leaving) {
      const removed = this.#parameters.leaving(plan, after.get(plan.id));
      persistence.setAsideLeaving(plan, removed);
      this.#runtime.graph.remove(removed);
    }
    for (const plan of coming) {
      this.#parameters.declare(plan, (declaration) => persistence.canReturn(plan, declaration));
      persistence.takeAside(plan);
    }
    const left = new Set(leaving.map(({ plan }) => plan.id));
    this.#running = new Map([...this.#running].filter(([id]) => !left.has(id)));
    const earlier = new Map(before.map((connection) => [connection.plan.id, connection]));
    return this.#start(
      coming.map((plan) => this.#asLasting(toRunAfter(earlier.get(plan.id), plan))),
      ready,
    );
  }

  /** Returns a connection that is about to start, switched as by an operator's switch with a term, if there is one. */
  #asLasting(coming: ComingConnection): ComingConnection {
    const switched = this.#runtime.switches.lasting(switchableOf(coming.plan));
    return switched === undefined ? coming : { ...coming, plan: { ...coming.plan, enabled: switched.isOn }, switched };
  }

  /** Makes a connection follow its settings again after the term of a switch has ended. */
  release({ name }: Switchable): void {
    const connection = this.#running.get(name);
    if (connection === undefined || connection.switched?.term === undefined) return;
    const plan = { ...connection.plan, enabled: connection.enabled };
    this.#start([{ ...connection, plan, switched: undefined }], this.#stopAll([connection]));
  }

  /** Applies switches with a term that arrive late from a store that an earlier run wrote. */
  followTerms(): void {
    for (const connection of this.#running.values()) {
      if (this.#runtime.switches.lasting(switchableOf(connection.plan)) === undefined) continue;
      if (connection.switched?.term !== undefined) continue;
      this.#start([this.#asLasting(connection)], this.#stopAll([connection]));
    }
  }

  /** Starts connections whose parameters are declared, in one turn. Connections with claims start as soon as `ready` resolves. */
  #start(coming: readonly ComingConnection[], ready: Promise<unknown> | undefined): RunningConnection[] {
    const started = coming.map((connection) => ({
      ...connection,
      supervisor: this.#supervise(connection.plan),
      hold: this.#holds.of(connection.plan),
    }));
    this.#runtime.graph.turn(() => {
      for (const { plan, supervisor, hold, switched } of started) {
        const missing = this.#missing.waitedForBy(plan);
        if (switched?.isOn === false) supervisor.hold({ state: 'disabled', reason: whyStopped(switched) });
        else if (hold !== undefined) supervisor.hold(hold);
        else if (missing !== undefined)
          supervisor.hold({ state: 'degraded', reason: `no hub currently has ${missing}` });
        else supervisor.start(this.#readyFor(plan, ready));
      }
    });
    this.#running = new Map([...this.#running, ...started.map((one) => [one.plan.id, one] as const)]);
    return started;
  }

  /** Returns the promise for which a connection must wait before it starts, or undefined if it may start at once. */
  #readyFor(plan: ConnectionPlan, freed: Promise<unknown> | undefined): Promise<unknown> | undefined {
    if (goesFirst(plan)) return this.#leaving.size === 0 ? undefined : this.whenQuiet();
    if (isGateway(plan)) return undefined;
    const ready = plan.type.claims === undefined ? undefined : freed;
    return this.#restored === undefined ? ready : Promise.all([this.#restored, ready]);
  }

  /**
   * Stops connections that listen to withdrawn parameters of other hubs, and starts waiting connections whose inputs are available again.
   */
  #waitOrStart(): void {
    const isTouched = this.#missing.takeTouched();
    const touched = [...this.#running.values()].filter(({ plan }) => isTouched(plan));
    if (touched.length > 0) this.#start(touched, this.#stopAll(touched));
  }

  /** Stops connections. The returned promise resolves when all connections have finished their work, or after a time limit. */
  #stopAll(leaving: readonly RunningConnection[]): Promise<unknown> | undefined {
    const ends = leaving.flatMap((connection) => {
      const end = this.#stop(connection);
      return connection.supervisor.isBusy && !isGateway(connection.plan) ? [end] : [];
    });
    return ends.length === 0 ? undefined : within(Promise.all(ends), longestWaitMs);
  }

  #stop({ supervisor, plan }: Pick<RunningConnection, 'supervisor' | 'plan'>, reason?: string): Promise<void> {
    const end = supervisor.stop(reason);
    for (const ends of isWork(plan) ? [this.#stopping, this.#leaving] : [this.#stopping]) {
      ends.add(end);
      end.finally(() => ends.delete(end));
    }
    return end;
  }

  /**
   * Checks that the resource claimed by a connection is free. Errors: `conflict` if another enabled connection claims the same resource.
   */
  #assertFree(plan: ConnectionPlan): void {
    for (const { plan: other, supervisor } of this.#running.values()) {
      const clash = supervisor.status.state === 'disabled' ? undefined : clashOf(plan, other);
      if (clash !== undefined)
        throw new HubError(
          'conflict',
          `start: expected exclusive use of ${clash.name}, but "${other.id}" also uses it`,
        );
    }
  }

  #supervise(plan: ConnectionPlan): Supervisor {
    const { graph, hub, scheduler, persistence, logOf } = this.#runtime;
    return new Supervisor({
      plan: withoutDeclarations(plan),
      owner: this.#parameters.ownerOf(plan.id),
      graph,
      hub,
      scheduler,
      persistence,
      log: logOf(plan.id),
      resolvePath: (path) => resolve(plan.folder, path),
      endsHub: () => !this.#hasStarted && isGateway(plan),
    });
  }
}

function switchableOf({ id, file }: ConnectionPlan): Switchable {
  return { kind: 'connection', name: id, file };
}

// Makes a connection wait while it listens to a missing parameter of another hub, which may withdraw the parameter and offer it again.

class MissingInputs {
  readonly #graph: Graph;
  /** The IDs of the connections that are waiting for a missing parameter. */
  readonly #waiting = new Set<string>();
  /** The addresses of the parameters that other hubs have withdrawn since the last check. */
  readonly #withdrawn = new Set<string>();
  readonly #following = new Subscription();

  /** `look` is called after parameters of other hubs have been added or removed. */
  constructor(graph: Graph, look: () => void) {
    this.#graph = graph;
    const note = graph.removed$.subscribe({
      next: ({ address, remote }) => {
        if (remote !== undefined) this.#withdrawn.add(address);
      },
      error: () => {},
    });
    this.#following.add(note);
    this.#following.add(graph.mirrored$.subscribe({ next: look, error: () => {} }));
  }

  /**
   * Returns the input for which a connection must wait before it starts. Returns undefined if all inputs are available or the connection is
   * disabled.
   */
  waitedForBy(plan: ConnectionPlan): string | undefined {
    const missing = plan.enabled ? this.#missing(plan) : undefined;
    if (missing === undefined) this.#waiting.delete(plan.id);
    else this.#waiting.add(plan.id);
    return missing;
  }

  /**
   * Returns a function that checks whether a connection listens to a withdrawn parameter, or has waited for a parameter that now exists.
   * Clears the record of withdrawn parameters.
   */
  takeTouched(): (plan: ConnectionPlan) => boolean {
    const withdrawn = new Set(this.#withdrawn);
    this.#withdrawn.clear();
    return (plan) =>
      this.#waiting.has(plan.id)
        ? this.#missing(plan) === undefined
        : Object.values(plan.inputs).some((address) => withdrawn.has(address));
  }

  stop(): void {
    this.#following.unsubscribe();
  }

  #missing({ inputs }: ConnectionPlan): string | undefined {
    return Object.values(inputs).find((address) => this.#graph.find(address) === undefined);
  }
}
