// One life of what runs in shadow: a twin that hears what is live, as far as it does not make it itself, and what both have come to.

import { type SchedulerLike, Subscription } from 'rxjs';
import { cut } from '../../flow/run/rules/kept-runs.ts';
import type { Graph } from '../../graph/graph.ts';
import type { ParameterNode } from '../../graph/parameter-node.ts';
import { RestoredChange } from '../../graph/restored-change.ts';
import { SettleCall } from '../../graph/settle-queue.ts';
import type { Change } from '../../model/parameter.ts';
import { keptDeviations } from '../../model/reports/reload-report.ts';
import type { HubLog } from '../journal.ts';
import { isLedToBefore, type Moment } from '../record.ts';
import { Deviations } from '../twin/deviations.ts';
import { runTwin, type Twin } from '../twin/run-twin.ts';
import { type Cone, nameOf } from './cone.ts';

/** A timer in shadow may be so much later than the one that is live. */
const momentMs = 10;

export interface ShadowRuntime {
  readonly graph: Graph;
  readonly scheduler: SchedulerLike;
  readonly log: HubLog;
  /** Whether the time is virtual: then nothing is later than it should be. */
  readonly isVirtual: boolean;
}

export class ShadowRun {
  readonly cone: Cone;
  readonly twin: Twin;
  readonly deviations: Deviations;
  readonly since: Moment;
  readonly #live: Graph;
  readonly #subscription = new Subscription();
  /** What was live in this turn and the twin has not heard yet. */
  #unheard: Change[] = [];
  readonly #task = new SettleCall({ order: Number.MAX_SAFE_INTEGER }, () => this.#tell());

  /** `most` deviations are kept. */
  constructor(cone: Cone, { graph, scheduler, log, isVirtual }: ShadowRuntime, most = keptDeviations) {
    this.cone = cone;
    this.#live = graph;
    this.since = { revision: graph.revision, time: graph.now() };
    this.deviations = new Deviations({ most, momentMs: isVirtual ? 0 : momentMs, cut });
    const withoutTicks = new Set([...cone.connections].filter((id) => !cone.changedConnections.has(id)));
    const prepare = (twin: Graph) => this.#prepare(twin);
    this.twin = runTwin(cone.plan, { log, scheduler, now: graph.now, withoutTicks, prepare });
    for (const address of cone.addresses) this.#listen(graph.find(address));
  }

  /** Whether a change was made in shadow, rather than heard from what is live. */
  isOwn(change: Change): boolean {
    const { origin, cause } = change;
    if (change instanceof RestoredChange || origin.reportedBy !== undefined) return false;
    if (origin.kind === 'rule') return this.cone.rules.has(nameOf(origin));
    return origin.kind === 'connection' && this.cone.connections.has(origin.name) && cause !== undefined;
  }

  stop(): void {
    this.#subscription.unsubscribe();
    void this.twin.stop();
  }

  /** Gives the twin the values that are live, and listens to what it does. */
  #prepare(twin: Graph): void {
    const { written } = this.cone;
    for (const node of twin.parameters()) {
      const live = this.#live.find(node.address);
      const change = live?.lastChange;
      if (node.type === 'T' || live?.value === undefined || change === undefined || live.type !== node.type) continue;
      twin.restore(node, { value: live.value, time: change.time, readCause: () => change.cause }, change.origin);
      if (!written.has(node.address)) continue;
      this.deviations.begin('done', live);
      this.deviations.begin('would', live);
    }
    const next = (change: Change) => {
      if (written.has(change.parameter.address)) this.deviations.note('would', change);
    };
    this.#subscription.add(twin.changes$.subscribe({ next, error: () => {} }));
  }

  #listen(node: ParameterNode | undefined): void {
    if (node === undefined) return;
    const isWritten = this.cone.written.has(node.address);
    let isLive = false;
    const hear = () => {
      if (!isLive) return;
      const change = this.#live.cause!;
      if (isWritten && change.revision > 0) this.deviations.note('done', change);
      if (!this.#isNews(change)) return;
      this.#unheard.push(change);
      this.#live.atSettle(this.#task);
    };
    this.#subscription.add(node.subscribe({ next: hear, error: () => {} }));
    if (node.type !== 'T') this.#subscription.add(this.#live.repeats(node).subscribe({ next: hear, error: () => {} }));
    isLive = true;
  }

  /** Whether the twin does not do the same by itself. */
  #isNews(change: Change): boolean {
    const { kind, name, reportedBy } = change.origin;
    if (reportedBy !== undefined) return true;
    const { rules, left, connections, changedConnections } = this.cone;
    if (kind === 'rule') {
      const rule = nameOf(change.origin);
      return !left.has(rule) && (!rules.has(rule) || isLedToBefore(change, this.since));
    }
    if (kind !== 'connection' || !connections.has(name)) return true;
    return !changedConnections.has(name) && (change.cause === undefined || isLedToBefore(change, this.since));
  }

  #tell(): void {
    const writes = this.#unheard.map((change) => {
      const { parameter, origin, cause } = change;
      return { address: parameter.address, value: this.#live.inputOf(change), origin, cause };
    });
    this.#unheard = [];
    this.twin.hear(writes);
  }
}
