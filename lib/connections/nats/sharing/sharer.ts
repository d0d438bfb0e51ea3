// Shares the parameters of this hub. Changes are sent in whole turns, immediately or together with the changes during the next
// milliseconds. The hub's revision is reported every half second.

import { hostname } from 'node:os';
import { type SchedulerLike, Subscription } from 'rxjs';
import { connectionIdOf } from '../../../model/address.ts';
import type { Change, Parameter } from '../../../model/parameter.ts';
import { Pause, wallClock } from '../../../model/time/wall-clock.ts';
import type { HubPort, Parameters } from '../../hub-port.ts';
import { type HubName, subjectOf, subjectOfWrites } from '../link/subjects.ts';
import type { Message, Transport } from '../link/transport.ts';
import type { Ownership } from '../ownership/ownership.ts';
import { maxStaleConnections, type StaleConnection } from '../wire/domain-messages.ts';
import { Receipts } from './receipts.ts';
import { RemoteWriteHandler } from './remote-write-handler.ts';
import { answerWalk, reportState, SharedParameters } from './shared-parameters.ts';
import { TurnWriter, type Written } from './turn-writer.ts';

const machineText = JSON.stringify(hostname());
const heartbeatMs = 500;
/** The interval at which a heartbeat lists all offline devices, in milliseconds, in case another hub has missed a change. */
const staleEveryMs = 5000;
/**
 * The minimum interval between messages, in milliseconds. It is limited because each message wakes every mirror. Changes in the meantime
 * are sent with the next message.
 */
const messageEveryMs = 1;
/**
 * The number of changes per millisecond above which the interval is made longer. At this rate, the number of messages dominates the cost.
 */
const busyPerMs = 5;
const busyMessageEveryMs = 8;
/** The interval at which to check whether pending changes can be sent, in milliseconds. */
const lookAgainMs = 10;

export interface SharerContext {
  readonly hub: Parameters & Pick<HubPort, 'epoch' | 'mirroring'>;
  readonly name: HubName;
  readonly ownership: Ownership;
  readonly isSelected: (address: string) => boolean;
  readonly scheduler: SchedulerLike;
  /** Calls `work` after this round of the event loop. */
  readonly soon: (work: () => void) => void;
}

export class Sharer {
  readonly #context: SharerContext;
  readonly #shared: SharedParameters;
  readonly #writer = new TurnWriter();
  readonly #remoteWrites: RemoteWriteHandler;
  readonly #receipts: Receipts;
  readonly #running = new Subscription();
  #session = Subscription.EMPTY;
  #transport: Transport | undefined;
  #isFlushDue = false;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  /** The number of changes sent since the last message, and the pause before the next message in milliseconds. */
  #changes = 0;
  #pauseMs = messageEveryMs;
  /** The added parameters that have not been checked yet. */
  #added: Parameter[] = [];
  /** The revision up to which all changes have been sent to other hubs. */
  #reported = 0;
  /** The number of firings of each trigger. */
  readonly #fires = new Map<Parameter, number>();
  /** The connections with an offline device, each with one of its parameters. */
  readonly #away = new Map<string, Parameter>();
  /** The time at which a heartbeat must next list these connections, in milliseconds. */
  #staleDueMs = 0;
  #isBeatDue = false;

  constructor(context: SharerContext) {
    const { hub, ownership } = context;
    this.#context = context;
    this.#shared = new SharedParameters(hub.epoch);
    this.#receipts = new Receipts(context.name, context.scheduler);
    this.#remoteWrites = new RemoteWriteHandler({
      ...context,
      isShared: (parameter) => this.#shared.numberOf(parameter) !== undefined,
      isOwn: (epoch) => this.#shared.isOwn(epoch),
      notify: () => this.flush(),
      confirm: ownership.confirm,
    });
    const follow = <T>(stream$: { subscribe(o: object): Subscription }, next: (one: T) => void) =>
      this.#running.add(stream$.subscribe({ next, error: () => {} }));
    follow(hub.changes$, (change: Change) => this.#take(change));
    follow(hub.declared$, (parameter: Parameter) => this.#declare(parameter));
    follow(hub.removed$, (parameter: Parameter) => this.#withdraw([parameter]));
    follow(hub.mirroring.stale$, (parameters: Iterable<Parameter>) => this.#look(parameters));
    follow(ownership.changed$, () => {
      this.#compare();
      this.#staleDueMs = 0;
      context.soon(() => this.#beat()); // hubs that consider this hub stale need not wait for the next heartbeat
    });
  }

  /** The number of parameters that this hub shares. */
  get size(): number {
    return this.#shared.size;
  }

  /** Starts to report changes. Other hubs request earlier changes. */
  attach(transport: Transport): void {
    const { name, scheduler, hub } = this.#context;
    this.detach();
    this.#compare();
    this.#away.clear();
    this.#look(this.#shared.parameters());
    this.#staleDueMs = 0;
    this.#transport = transport;
    this.#reported = hub.revision;
    this.#session = new Subscription();
    this.#session.add(
      transport.subscribe(subjectOf(name, 'walk'), (message) => {
        this.#answer(message);
        return undefined;
      }),
    );
    const take = (message: Message) => {
      if (!this.#context.ownership.reports) return undefined;
      this.#shareAdded();
      this.#remoteWrites.take(message);
      return undefined;
    };
    for (const subject of [subjectOfWrites(name, '*'), subjectOf(name, 'write')])
      this.#session.add(transport.subscribe(subject, take));
    const beat = () => this.#beat();
    beat();
    this.#session.add(
      scheduler.schedule(function () {
        beat();
        this.schedule(undefined, heartbeatMs);
      }, heartbeatMs),
    );
  }

  /**
   * Sends all changes as soon as this hub may send and there is a network. Resolves to true if the standby has received all changes or
   * cannot be reached, and to false if the receipt is not confirmed in time or this hub is no longer active. Never rejects.
   */
  async notifyAll(endMs: number): Promise<boolean> {
    const { ownership, scheduler } = this.#context;
    while (this.#transport === undefined || !ownership.reports) {
      if (!ownership.isHolder || scheduler.now() >= endMs) return false;
      await new Pause(scheduler).for(lookAgainMs);
    }
    const transport = this.#transport;
    this.flush();
    const all = { epoch: this.#shared.epoch, rev: this.#reported };
    return this.#receipts.expect(transport, all, endMs, () => this.#publish(this.#reported, ''));
  }

  /** Stops reporting changes, because there is no network. */
  detach(): void {
    this.#session.unsubscribe();
    this.#transport = undefined;
    this.#writer.take();
  }

  stop(): void {
    this.detach();
    this.#running.unsubscribe();
  }

  /** Sends all changes that have not been sent yet. Must be called between turns. */
  flush(): void {
    this.#isFlushDue = false;
    this.#shareAdded();
    if (this.#shared.tidy()) {
      this.#writer.take();
      this.#reported = this.#context.hub.revision;
    }
    if (!this.#writer.isEmpty) this.#send(this.#writer.take());
  }

  /** Sends all changes that have not been sent yet, and a heartbeat with the revision. */
  #beat(): void {
    this.flush();
    if (this.#context.ownership.reports) this.#publish(this.#reported, '');
  }

  #take(change: Change): void {
    const { parameter } = change;
    const number = this.#shared.numberOf(parameter);
    if (number === undefined) return;
    if (parameter.type === 'T') this.#fires.set(parameter, (this.#fires.get(parameter) ?? 0) + 1);
    if (this.#transport === undefined) return;
    this.#changes++;
    const full = this.#writer.add(number, change, this.#context.hub.mirroring.turnNumber);
    if (full !== undefined) this.#send(full);
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    const { scheduler, soon } = this.#context;
    const flush = () => {
      if (this.#isFlushDue) this.flush();
    };
    const waitMs = this.#sentAtMs + this.#pauseMs - scheduler.now();
    if (waitMs <= 0) soon(flush);
    else scheduler.schedule(flush, waitMs);
  }

  #send({ turns, rev }: Written): void {
    const { reports } = this.#context.ownership;
    if (turns === undefined || !reports) this.#reported = Math.max(this.#reported, rev);
    if (reports) this.#publish(rev, turns ?? ''); // other hubs request the unsent changes as soon as they notice the gap
  }

  #publish(rev: number, turns: string): void {
    const { name, ownership, scheduler } = this.#context;
    const nowMs = scheduler.now();
    this.#pauseMs = this.#changes > busyPerMs * (nowMs - this.#sentAtMs) ? busyMessageEveryMs : messageEveryMs;
    this.#sentAtMs = nowMs;
    this.#changes = 0;
    const prev = this.#reported;
    this.#reported = Math.max(prev, rev);
    const heartbeat = turns === '' ? `,"machine":${machineText}${this.#staleText(nowMs)}` : '';
    const head = `"hub":"${name.hub}","epoch":"${this.#shared.epoch}","term":${ownership.term},"structure":${this.#shared.structure},"clock":${Math.floor(nowMs)}${heartbeat}`;
    this.#transport?.publish(
      subjectOf(name, 'turns'),
      `{${head},"prev":${prev},"rev":${this.#reported},"turns":[${turns}]}`,
    );
  }

  /** Records devices that have gone offline or online. Reports these changes after the devices' values. */
  #look(parameters: Iterable<Parameter>): void {
    let isChanged = false;
    for (const parameter of parameters) {
      if (parameter.device === undefined || parameter.remote !== undefined) continue;
      const connection = connectionIdOf(parameter.address);
      const isAway = parameter.device.staleSince !== undefined;
      if (isAway === this.#away.has(connection) || (isAway && this.#shared.numberOf(parameter) === undefined)) continue;
      if (isAway) this.#away.set(connection, parameter);
      else this.#away.delete(connection);
      isChanged = true;
    }
    if (!isChanged) return;
    this.#staleDueMs = 0;
    if (this.#transport === undefined || this.#isBeatDue) return;
    this.#isBeatDue = true;
    this.#context.soon(() => {
      this.#isBeatDue = false;
      this.#beat();
    });
  }

  /** Returns the part of a heartbeat that lists all offline devices, or '' if the list is not due. */
  #staleText(nowMs: number): string {
    if (nowMs < this.#staleDueMs) return '';
    if ([...this.#away.values()].some((parameter) => this.#shared.numberOf(parameter) === undefined)) {
      this.#away.clear(); // a reload has removed the parameter, or another hub owns the connection
      this.#look(this.#shared.parameters());
    }
    this.#staleDueMs = nowMs + staleEveryMs;
    const now = wallClock.now();
    const stale = [...this.#away].slice(0, maxStaleConnections).map(([id, { device }]) => {
      const since = device?.staleSince ?? now;
      return [id, Math.max(0, Math.round(now - since))] satisfies StaleConnection;
    });
    return `,"stale":${JSON.stringify(stale)}`;
  }

  #answer(message: Message): void {
    const { name, ownership, hub, scheduler } = this.#context;
    if (!ownership.answers) return;
    this.flush();
    const clock = Math.floor(scheduler.now());
    const head = { hub: name.hub, epoch: this.#shared.epoch, term: ownership.term, rev: this.#reported, clock };
    const answer = answerWalk(message.data, head, this.#shared, hub, this.#fires);
    if (answer === undefined) return;
    message.reply(answer);
    this.#staleDueMs = 0; // the requesting hub may be new
  }

  #isShared({ address, remote }: Parameter): boolean {
    const { hub, ownership, isSelected, name } = this.#context;
    const connection = connectionIdOf(address);
    if ((remote !== undefined && remote.hub !== name.hub) || hub.mirroring.isLocal(connection)) return false;
    return ownership.owns(connection) && isSelected(address);
  }

  #declare(parameter: Parameter): void {
    if (parameter.remote !== undefined && parameter.remote.hub !== this.#context.name.hub) return;
    this.#added.push(parameter);
    this.#flushSoon();
  }

  /** Shares the added parameters and their current values as soon as the hub has declared all parameters of their connection. */
  #shareAdded(): void {
    if (this.#added.length === 0) return;
    const { hub } = this.#context;
    const added = this.#added.filter(
      (parameter) =>
        hub.find(parameter.address) === parameter &&
        this.#shared.numberOf(parameter) === undefined &&
        this.#isShared(parameter),
    );
    this.#added = [];
    this.#share(added);
  }

  #share(added: readonly Parameter[]): void {
    if (added.length === 0) return;
    const { hub } = this.#context;
    const declared = added.map((parameter) => this.#shared.add(parameter));
    this.#shared.structure++;
    if (this.#transport === undefined) return;
    const changes = added.flatMap((parameter) => reportState(parameter, this.#shared.numberOf(parameter)!));
    this.#writer.addStructure(JSON.stringify({ declared, changes }), hub.revision);
    this.#flushSoon();
  }

  #withdraw(parameters: Iterable<Parameter>): void {
    const withdrawn: number[] = [];
    for (const parameter of parameters) {
      const number = this.#shared.delete(parameter);
      this.#fires.delete(parameter);
      if (number !== undefined) withdrawn.push(number);
    }
    if (withdrawn.length === 0) return;
    this.#shared.structure++;
    if (this.#transport === undefined) return;
    this.#writer.addStructure(JSON.stringify({ withdrawn }), this.#context.hub.revision);
    this.#flushSoon();
  }

  /** Adapts the shared parameters to the connections that this hub now owns. */
  #compare(): void {
    this.#withdraw([...this.#shared.parameters()].filter((parameter) => !this.#isShared(parameter)));
    const added = [...this.#context.hub.parameters()].filter(
      (parameter) => this.#shared.numberOf(parameter) === undefined && this.#isShared(parameter),
    );
    this.#share(added);
  }
}
