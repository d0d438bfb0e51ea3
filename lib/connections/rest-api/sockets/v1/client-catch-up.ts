// Sends a client the snapshots that it lacks: definitions, then the newest value of each parameter in the order of their last
// changes, as fast as it reads. How far it has come is one number, the revision up to which it has walked. No revision is told
// meanwhile: a parameter that changes again is reached only at its new place in that order. Who is sent what its group flushes is
// sent snapshots of before alone: a newer value would come ahead of changes that wait.

import type { Parameter } from '../../../../model/parameter.ts';
import type { HubPort } from '../../../hub-port.ts';
import type { FanOut } from '../fan-out.ts';
import { defFrame, definition, frameLength, isTrigger, itemOf, setFrame } from './frames.ts';
import { listedParameters, type Subscription } from './subscription.ts';

/** What a catch-up works with. */
export interface Sources {
  readonly hub: HubPort;
  readonly fanOut: FanOut;
}

/** A subscription of which everything that changed after `from` is to be sent; `isNew`: its definitions as well. */
export interface Snapshot {
  readonly subscription: Subscription;
  readonly from: number;
  readonly isNew: boolean;
}

/** What stops work for one client that goes on as fast as the client reads. */
export type Stopped = 'done' | 'full' | 'more';

/** The client, as its catch-up sees it. */
interface Recipient {
  readonly isFull: boolean;
  readonly hasResumed: boolean;
  send(frame: string): void;
}

/** How many parameters are looked at before the frame so far is sent. */
const stepSize = 1024;

export class CatchUp {
  readonly #sources: Sources;
  readonly #snapshots: readonly Snapshot[];
  /** Subscriptions whose end is to be told. */
  readonly ends: readonly number[];
  #definitions: Iterator<Parameter> | undefined;
  #walk: Iterator<Parameter> | undefined;
  /** Up to this revision the walk brings everything. */
  #goal = 0;
  #walked: number;

  constructor(sources: Sources, snapshots: readonly Snapshot[], ends: readonly number[]) {
    this.#sources = sources;
    this.#snapshots = snapshots;
    this.ends = ends;
    this.#walked = Math.min(...snapshots.map(({ from }) => from), sources.hub.revision);
    const fresh = snapshots.filter(({ isNew }) => isNew);
    if (fresh.length > 0) this.#definitions = parametersOf(sources.hub, fresh);
  }

  /** Whether nothing is to be sent but the ends. */
  get isEmpty(): boolean {
    return this.#snapshots.length === 0;
  }

  /** What is left to do of it, for a client that changes its subscriptions meanwhile. */
  get remaining(): Snapshot[] {
    const isDefined = this.#definitions === undefined;
    return this.#snapshots.map(({ subscription, from, isNew }) => ({
      subscription,
      from: Math.max(from, this.#walked),
      isNew: isNew && !isDefined,
    }));
  }

  /** Sends what has changed up to a revision, as far as the socket takes it in some milliseconds; says what stopped it. */
  run(recipient: Recipient, last: number, endMs: number): Stopped {
    return stepUntil(endMs, recipient, () => this.#define(recipient) || this.#sendWalked(recipient, last));
  }

  /** Sends a frame of definitions; returns whether there was anything to look at. */
  #define(recipient: Recipient): boolean {
    if (this.#definitions === undefined) return false;
    let definitions = '';
    let looked = 0;
    while (looked < stepSize && definitions.length < frameLength) {
      const { done, value: parameter } = this.#definitions.next();
      if (done) {
        this.#definitions = undefined;
        break;
      }
      looked++;
      if (!this.#isWanted(parameter, Number.POSITIVE_INFINITY)) continue;
      const text = definition(this.#sources.fanOut.channelOf(parameter));
      definitions = definitions === '' ? text : `${definitions},${text}`;
    }
    if (definitions !== '') recipient.send(defFrame(definitions));
    return looked > 0;
  }

  /** Sends a frame of values; returns whether there may be more: what has changed since a walk began may be missing in it. */
  #sendWalked(recipient: Recipient, last: number): boolean {
    if (this.isEmpty) return false;
    const goesOn = this.#walk !== undefined;
    if (this.#walk === undefined) {
      this.#goal = Math.min(this.#sources.hub.revision, last);
      if (this.#walked >= this.#goal) return false;
      this.#walk = changedSince(this.#sources.hub, this.#snapshots, this.#walked);
    }
    let items = '';
    let definitions = '';
    let looked = 0;
    while (looked < stepSize && items.length + definitions.length < frameLength) {
      const { done, value: parameter } = this.#walk.next();
      if (done || parameter.lastChange!.revision > last) {
        this.#walk = undefined;
        this.#walked = Math.max(this.#walked, this.#goal);
        break;
      }
      looked++;
      const { revision } = parameter.lastChange!;
      this.#walked = revision;
      if (!this.#isWanted(parameter, revision)) continue;
      const channel = this.#sources.fanOut.channelOf(parameter);
      items += `${items && ','}${itemOf(channel, parameter.value!, revision)}`;
      if (recipient.hasResumed) definitions += `${definitions && ','}${definition(channel)}`;
    }
    if (definitions !== '') recipient.send(defFrame(definitions));
    if (items !== '') recipient.send(setFrame(items, undefined));
    return looked > 0 || goesOn;
  }

  /** Whether a snapshot has the parameter and lacks its change of this revision; infinite: its definition. */
  #isWanted(parameter: Parameter, revision: number): boolean {
    if (this.#sources.hub.find(parameter.address) !== parameter) return false;
    const isDefinition = revision === Number.POSITIVE_INFINITY;
    return this.#snapshots.some(
      ({ subscription, from, isNew }) =>
        (isDefinition ? isNew : revision > from) && subscription.selection.has(parameter),
    );
  }
}

/** Adds a snapshot of each further subscription: of what changed after a revision. */
export function withOthers(
  snapshots: readonly Snapshot[],
  subscriptions: readonly Subscription[],
  from: number,
): Snapshot[] {
  const others = subscriptions.filter((one) => !snapshots.some(({ subscription }) => subscription === one));
  return [...snapshots, ...others.map((subscription) => ({ subscription, from, isNew: false }))];
}

/** Works in steps until a time, until the client has no room, or until there is no more: a step returns whether there may be. */
export function stepUntil(endMs: number, client: { readonly isFull: boolean }, step: () => boolean): Stopped {
  for (;;) {
    if (client.isFull) return 'full';
    if (!step()) return 'done';
    if (performance.now() >= endMs) return 'more';
  }
}

/** The parameters that snapshots may have: all of the hub, or those whose addresses are listed. */
function parametersOf(hub: HubPort, snapshots: readonly Snapshot[]): Iterator<Parameter> {
  return (listed(hub, snapshots) ?? hub.parameters())[Symbol.iterator]();
}

/** Oldest change first, the parameters that snapshots may have and that changed after the revision. */
function changedSince(hub: HubPort, snapshots: readonly Snapshot[], revision: number): Iterator<Parameter> {
  const parameters = listed(hub, snapshots);
  if (parameters === undefined) return hub.changedSince(revision)[Symbol.iterator]();
  const changed = [...parameters]
    .filter((parameter) => !isTrigger(parameter) && parameter.value !== undefined)
    .map((parameter) => ({ parameter, revision: parameter.lastChange!.revision }))
    .filter((change) => change.revision > revision)
    .sort((one, other) => one.revision - other.revision);
  return unmoved(changed);
}

/** Leaves out what has changed since the list was made: it comes later, in its new place. */
function* unmoved(changed: readonly { parameter: Parameter; revision: number }[]): Generator<Parameter> {
  for (const { parameter, revision } of changed) if (parameter.lastChange!.revision === revision) yield parameter;
}

function listed(hub: HubPort, snapshots: readonly Snapshot[]): Set<Parameter> | undefined {
  return listedParameters(
    snapshots.map(({ subscription }) => subscription),
    (address) => hub.find(address),
  );
}
