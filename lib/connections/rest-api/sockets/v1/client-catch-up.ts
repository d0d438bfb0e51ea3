// Sends a client the missing snapshots, as fast as the client can read: first definitions, then the newest value of each parameter, in the
// order of the last changes. The progress of a catch-up is one number, the revision that the walk has reached. No revision is reported
// before the end, because a parameter that changes again moves to the end of the order. If the client also gets the group's flushes, the
// snapshots contain only older changes, because a newer value would overtake changes that are waiting in the group.

import type { Parameter } from '../../../../model/parameter.ts';
import type { HubPort } from '../../../hub-port.ts';
import type { FanOut } from '../fan-out.ts';
import { defFrame, definition, frameLength, isTrigger, itemOf, setFrame } from './frames.ts';
import { listedParameters, type Subscription } from './subscription.ts';

/** The hub and the fan-out, from which a catch-up takes parameters and their channels. */
export interface Sources {
  readonly hub: HubPort;
  readonly fanOut: FanOut;
}

/**
 * A subscription for which the client lacks the changes after the revision `from`; with `isNew`, the client also lacks the definitions.
 */
export interface Snapshot {
  readonly subscription: Subscription;
  readonly from: number;
  readonly isNew: boolean;
}

/** The reason why work for a client stopped: `done` if nothing is left, `full` if the socket is full, `more` if time has run out. */
export type Stopped = 'done' | 'full' | 'more';

/** The client to which a catch-up sends frames. */
interface Recipient {
  readonly isFull: boolean;
  readonly hasResumed: boolean;
  send(frame: string): void;
}

/** The maximum number of parameters that are visited per frame, even if the frame is not full. */
const stepSize = 1024;

export class CatchUp {
  readonly #sources: Sources;
  readonly #snapshots: readonly Snapshot[];
  /** The numbers of the subscriptions for which an `end` follows this catch-up. */
  readonly ends: readonly number[];
  #definitions: Iterator<Parameter> | undefined;
  #walk: Iterator<Parameter> | undefined;
  /** The revision that the walk reaches when it ends. */
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

  /** Whether there are no snapshots, in which case only `end` messages remain to be sent. */
  get isEmpty(): boolean {
    return this.#snapshots.length === 0;
  }

  /** The snapshots that the client still lacks, for a client that changes its subscriptions. */
  get remaining(): Snapshot[] {
    const isDefined = this.#definitions === undefined;
    return this.#snapshots.map(({ subscription, from, isNew }) => ({
      subscription,
      from: Math.max(from, this.#walked),
      isNew: isNew && !isDefined,
    }));
  }

  /**
   * Sends definitions and the changes up to the revision `last`, until `endMs` and while the socket has space; returns the reason why
   * sending stopped.
   */
  run(recipient: Recipient, last: number, endMs: number): Stopped {
    return stepUntil(endMs, recipient, () => this.#define(recipient) || this.#sendWalked(recipient, last));
  }

  /** Sends the next frame of definitions; returns whether there was a parameter to visit. */
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

  /** Sends the next frame of values; returns whether there may be more values, which include changes since the walk began. */
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

  /**
   * Returns whether a snapshot contains a parameter and lacks the parameter's change at a revision or, if the revision is infinite, the
   * parameter's definition.
   */
  #isWanted(parameter: Parameter, revision: number): boolean {
    if (this.#sources.hub.find(parameter.address) !== parameter) return false;
    const isDefinition = revision === Number.POSITIVE_INFINITY;
    return this.#snapshots.some(
      ({ subscription, from, isNew }) =>
        (isDefinition ? isNew : revision > from) && subscription.selection.has(parameter),
    );
  }
}

/** Returns the snapshots, and for each other subscription a snapshot of the changes after the revision `from`. */
export function withOthers(
  snapshots: readonly Snapshot[],
  subscriptions: readonly Subscription[],
  from: number,
): Snapshot[] {
  const others = subscriptions.filter((one) => !snapshots.some(({ subscription }) => subscription === one));
  return [...snapshots, ...others.map((subscription) => ({ subscription, from, isNew: false }))];
}

/**
 * Repeats a step until `endMs`, until the client is full, or until the step returns false because nothing is left; returns which of these
 * happened.
 */
export function stepUntil(endMs: number, client: { readonly isFull: boolean }, step: () => boolean): Stopped {
  for (;;) {
    if (client.isFull) return 'full';
    if (!step()) return 'done';
    if (performance.now() >= endMs) return 'more';
  }
}

/** Returns the parameters that snapshots may contain: those at the addresses that the subscriptions list, or all parameters of the hub. */
function parametersOf(hub: HubPort, snapshots: readonly Snapshot[]): Iterator<Parameter> {
  return (listed(hub, snapshots) ?? hub.parameters())[Symbol.iterator]();
}

/** Returns the parameters that snapshots may contain and that have changed after a revision, oldest change first. */
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

/** Yields the parameters in a list, except those that have changed since the list was made: they follow later, in their new position. */
function* unmoved(changed: readonly { parameter: Parameter; revision: number }[]): Generator<Parameter> {
  for (const { parameter, revision } of changed) if (parameter.lastChange!.revision === revision) yield parameter;
}

function listed(hub: HubPort, snapshots: readonly Snapshot[]): Set<Parameter> | undefined {
  return listedParameters(
    snapshots.map(({ subscription }) => subscription),
    (address) => hub.find(address),
  );
}
