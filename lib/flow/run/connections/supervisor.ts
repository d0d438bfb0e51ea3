// Keeps one connection running: starts it, carries what it sets into the graph, shows its state, and starts it again with
// backoff when it crashes. Its neighbours never notice.

import {
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
import { SettleCall, type SettlePlace } from '../../../graph/settle-queue.ts';
import { HubError, messageOf } from '../../../model/error.ts';
import type { Origin } from '../../../model/parameter.ts';
import { withoutSecrets } from '../../../model/secret.ts';
import { Backoff, restartTimes } from '../../../model/time/backoff.ts';
import type { Value } from '../../../model/value.ts';
import type { ConnectionPlan } from '../../plan.ts';
import { HeldWrites } from './held-writes.ts';
import type { Keeping } from './keeping.ts';
import { LiveStatus, type SupervisedStatus } from './live-status.ts';
import { OwnParameters } from './own-parameters.ts';
import { secretLog } from './secret-log.ts';
import { UnfinishedWork } from './unfinished-work.ts';

export interface SupervisorOptions {
  readonly plan: ConnectionPlan;
  readonly owner: Origin;
  readonly graph: Graph;
  /** What a gateway sees; undefined: this is none. */
  readonly hub: HubPort | undefined;
  readonly scheduler: SchedulerLike;
  readonly keeping: Keeping;
  readonly log: Log;
  readonly resolvePath: (path: string) => string;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  #plan: ConnectionPlan;
  readonly #log: Log;
  readonly #settings = new Subject<unknown>();
  readonly #parameters: OwnParameters;
  readonly #status: LiveStatus;
  readonly #held: HeldWrites;
  readonly #unfinished: UnfinishedWork;
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
    this.#parameters = new OwnParameters(graph, owner, log);
    this.#status = new LiveStatus(plan, this.#parameters, log, secretsOf);
    this.#held = new HeldWrites(graph, owner, log);
    this.#unfinished = new UnfinishedWork(log);
    this.#settlePlace = { order: plan.settleOrder };
  }

  /** Replays the present status, completes when the connection is stopped, never errors. */
  get status$(): Observable<SupervisedStatus> {
    return this.#status.status$;
  }

  get status(): SupervisedStatus {
    return this.#status.present;
  }

  /** Whether the connection has begun something that it has not finished yet. */
  get isBusy(): boolean {
    return !this.#unfinished.isEmpty;
  }

  /** Shows why the connection is not started, though its settings have it run. */
  hold({ state, reason }: Pick<SupervisedStatus, 'state' | 'reason'>): void {
    this.#status.enter(state, reason);
  }

  /** Starts the connection, or when `ready` resolves; what is written to it until then is held. */
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

  /** Has the connection go on with another plan. */
  takeOver(plan: ConnectionPlan): void {
    this.#plan = plan;
    this.#settings.next(plan.settings);
  }

  /** Shows what the connection is for in other words. */
  describe(description: string): void {
    this.#status.describe(description);
  }

  /** Places its work that waits for consistent values anew among that of others. */
  settleAt(order: number): void {
    this.#settlePlace.order = order;
  }

  /** Stops the connection; resolves when it has finished what it had begun. With a reason it is shown as disabled. Never rejects. */
  async stop(reason?: string): Promise<void> {
    try {
      this.#subscription.unsubscribe();
    } catch (error) {
      this.#log.warn({}, `stopped with a fault: ${messageOf(error)}`);
    }
    this.#held.forget();
    if (reason !== undefined) this.#status.enter('disabled', reason);
    this.#status.complete();
    await this.#unfinished.whenEnded();
  }

  /** The events of the connection, which is started again whenever it crashes. */
  #run(): Observable<ConnectionEvent> {
    const { hub, scheduler } = this.#options;
    const { type } = this.#plan;
    return defer(() => {
      this.#startedAt = scheduler.now();
      const context = this.#createContext();
      return type.isGateway ? type.run(context, hub!) : type.run(context);
    }).pipe(endIsCrash(), retry({ delay: (error) => this.#backOff(error) }));
  }

  /** The same once a promise resolves; until then what is written to the connection is held. */
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
      this.#parameters.set(event.set, event.own, event.value, cause);
    } else this.#status.enter(event.state, event.state === 'degraded' ? event.reason : '');
  }

  /** Whether it is not past the time at which it has to have ended. */
  #mayAct(): boolean {
    const { graph, plan } = this.#options;
    return graph.mayAct === undefined || plan.type.isGateway === true || graph.mayAct();
  }

  #backOff(error: unknown): Observable<unknown> {
    const { scheduler } = this.#options;
    this.#backoff.ran(scheduler.now() - this.#startedAt);
    const isFailed = error instanceof HubError && error.code === 'cannot-start';
    this.#status.enter(isFailed ? 'failed' : 'degraded', messageOf(error));
    return timer(this.#backoff.next(), scheduler);
  }

  #createContext(): ConnectionContext<unknown> {
    const { graph, scheduler, keeping, resolvePath } = this.#options;
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
      lastChange: (name) => graph.find(plan.inputs[name]!)?.lastChange,
      turn: (work) => graph.turn(work),
      atSettle: (work) => this.#prepareToSettle(work),
      finish: (work) => this.#unfinished.add(work),
      restored: keeping.valuesOf(plan),
      memory: keeping.memoryOf(plan.id),
      left: keeping.takeLeft(plan),
      leave: (what) => keeping.leave(plan, what),
    };
  }

  #inbox(parameterId: string): Observable<Value> {
    const inbox = this.#held.inbox(parameterId);
    return this.#options.graph.mayAct === undefined ? inbox : inbox.pipe(filter(() => this.#mayAct()));
  }

  #prepareToSettle(settle: () => void): () => void {
    const { graph } = this.#options;
    const task = new SettleCall(this.#settlePlace, settle);
    return () => graph.atSettle(task);
  }
}

/** A connection runs until it is stopped; one that completes has crashed. */
function endIsCrash<T>(): (source: Observable<T>) => Observable<T> {
  return (source) =>
    concat(
      source,
      throwError(() => new Error('the connection ended by itself')),
    );
}
