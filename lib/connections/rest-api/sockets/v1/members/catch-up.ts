// Brings a client up to date that is not live: one that has just subscribed, resumes, or did not read for a while. It is sent
// definitions, then the newest value of each parameter in the order of their last changes, as fast as it reads. What it has
// been sent is one number, the revision up to which the walk has come.

import type { Parameter } from '../../../../../model/parameter.ts';
import type { HubPort } from '../../../../hub-port.ts';
import type { FanOut } from '../../fan-out.ts';
import type { Client } from '../client.ts';
import { defFrame, definition, frameLength, isTrigger, setFrame } from '../frames.ts';
import { itemOf } from '../group/group-channel.ts';
import type { Subscription } from '../subscription.ts';

/** A subscription of which all that changed after `from` is to be sent; `isNew`: its definitions as well. */
export interface Picture {
  readonly subscription: Subscription;
  readonly from: number;
  readonly isNew: boolean;
}

/** Adds to pictures those of all other subscriptions of a client, as of what it has seen. */
export function picturesSince(client: Client, pictures: readonly Picture[]): Picture[] {
  const others = client.subscriptions.filter((one) => !pictures.some(({ subscription }) => subscription === one));
  return [...pictures, ...others.map((subscription) => ({ subscription, from: client.seen, isNew: false }))];
}

/** What a catch-up works with. */
export interface Sources {
  readonly hub: HubPort;
  readonly fanOut: FanOut;
}

/** How many parameters are looked at before the frame so far is sent. */
const stepSize = 1024;

export class CatchUp {
  readonly #sources: Sources;
  readonly #client: Client;
  readonly #pictures: readonly Picture[];
  /** Subscriptions whose end is to be told. */
  readonly ends: readonly number[];
  #definitions: Iterator<Parameter> | undefined;
  #walk: Iterator<Parameter> | undefined;
  #walked: number;

  constructor(sources: Sources, client: Client, pictures: readonly Picture[], ends: readonly number[]) {
    this.#sources = sources;
    this.#client = client;
    this.#pictures = pictures;
    this.ends = ends;
    this.#walked = Math.min(...pictures.map(({ from }) => from), sources.hub.revision);
    const fresh = pictures.filter(({ isNew }) => isNew);
    if (fresh.length > 0) this.#definitions = matching(sources.hub, fresh);
  }

  /** What is left to do of it, for a client that changes its subscriptions meanwhile. */
  get remaining(): Picture[] {
    const isDefined = this.#definitions === undefined;
    return this.#pictures.map(({ subscription, from, isNew }) => ({
      subscription,
      from: Math.max(from, this.#walked),
      isNew: isNew && !isDefined,
    }));
  }

  /** Sends what the socket takes, for some milliseconds at most; says what stopped it. */
  run(endMs: number): 'done' | 'full' | 'more' {
    for (;;) {
      if (this.#client.isFull) return 'full';
      if (!this.#define() && !this.#sendWalked()) return 'done';
      if (performance.now() >= endMs) return 'more';
    }
  }

  /** Tells that the pictures are complete. */
  end(revision: number): void {
    for (const id of this.ends) this.#client.send(`{"end":${id},"rev":${revision}}`);
  }

  /** Sends a frame of definitions; returns whether there was anything to look at. */
  #define(): boolean {
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
    if (definitions !== '') this.#client.send(defFrame(definitions));
    return looked > 0;
  }

  /** Sends a frame of values; returns whether there was anything to look at. */
  #sendWalked(): boolean {
    if (this.#pictures.length === 0) return false;
    this.#walk ??= changedSince(this.#sources.hub, this.#pictures, this.#walked);
    let items = '';
    let definitions = '';
    let looked = 0;
    while (looked < stepSize && items.length + definitions.length < frameLength) {
      const { done, value: parameter } = this.#walk.next();
      if (done) {
        this.#walk = undefined;
        break;
      }
      looked++;
      const { revision } = parameter.lastChange!;
      this.#walked = revision;
      if (!this.#isWanted(parameter, revision)) continue;
      const channel = this.#sources.fanOut.channelOf(parameter);
      items += `${items && ','}${itemOf(channel, parameter.value!, revision)}`;
      if (this.#client.definedAfter >= 0) definitions += `${definitions && ','}${definition(channel)}`;
    }
    if (definitions !== '') this.#client.send(defFrame(definitions));
    const { place, view } = this.#client;
    if (items !== '') this.#client.send(setFrame(items, place < 0 ? this.#walked : Math.min(this.#walked, view!.sent)));
    this.#client.seen = Math.max(this.#client.seen, this.#walked);
    return looked > 0;
  }

  /** Whether a picture has the parameter and lacks its change of this revision; infinite: its definition. */
  #isWanted(parameter: Parameter, revision: number): boolean {
    if (this.#sources.hub.find(parameter.address) !== parameter) return false;
    const isDefinition = revision === Number.POSITIVE_INFINITY;
    return this.#pictures.some(
      ({ subscription, from, isNew }) =>
        (isDefinition ? isNew : revision > from) && subscription.selection.has(parameter),
    );
  }
}

/** The parameters that pictures may have: all of the hub, or those whose addresses are listed. */
function matching(hub: HubPort, pictures: readonly Picture[]): Iterator<Parameter> {
  return (listed(hub, pictures) ?? hub.parameters())[Symbol.iterator]();
}

/** Oldest change first, the parameters that pictures may have and that changed after the revision. */
function changedSince(hub: HubPort, pictures: readonly Picture[], revision: number): Iterator<Parameter> {
  const parameters = listed(hub, pictures);
  if (parameters === undefined) return hub.changedSince(revision)[Symbol.iterator]();
  const changed = parameters
    .filter((parameter) => !isTrigger(parameter) && parameter.value !== undefined)
    .map((parameter) => ({ parameter, place: parameter.lastChange!.revision }))
    .filter(({ place }) => place > revision)
    .sort((one, other) => one.place - other.place);
  return unmoved(changed);
}

/** Leaves out what has changed since the list was made: it comes later, in its new place. */
function* unmoved(changed: readonly { parameter: Parameter; place: number }[]): Generator<Parameter> {
  for (const { parameter, place } of changed) if (parameter.lastChange!.revision === place) yield parameter;
}

function listed(hub: HubPort, pictures: readonly Picture[]): Parameter[] | undefined {
  const addresses = new Set<string>();
  for (const { subscription } of pictures) {
    if (subscription.addresses === undefined) return undefined;
    for (const address of subscription.addresses) addresses.add(address);
  }
  return [...addresses].map((address) => hub.find(address)).filter((parameter) => parameter !== undefined);
}
