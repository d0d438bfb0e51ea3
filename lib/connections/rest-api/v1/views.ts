// The views of a server, and how clients move between them: what a client subscribes to anew it is sent whole, and of what it
// had before it misses nothing.

import type { HubPort } from '../../connection.ts';
import type { FanOut } from '../fan-out.ts';
import type { Feed } from '../feed.ts';
import { CatchUp, type Picture } from './catch-up.ts';
import { CatchUpQueue } from './catch-up-queue.ts';
import type { Client } from './client.ts';
import { cut, defFrame, definition } from './frames.ts';
import type { Subscription } from './subscription.ts';
import { createTickers } from './ticker.ts';
import { View, type ViewContext } from './view.ts';

export class Views {
  readonly #hub: HubPort;
  readonly #fanOut: FanOut;
  readonly #context: ViewContext;
  readonly #queue = new CatchUpQueue();
  /** Bounded by the number of clients. */
  readonly #views = new Map<string, View>();
  /** Parameters that have come and gone and of which clients do not know yet; bounded by what one reload swaps. */
  #came: Feed[] = [];
  #gone: Feed[] = [];
  /** The revisions at which parameters came and went last; -1: never since the start. */
  #cameAt = -1;
  #goneAt = -1;

  /** `giveUp` ends a client that reads too slowly. */
  constructor(hub: HubPort, fanOut: FanOut, giveUp: (client: Client) => void) {
    this.#hub = hub;
    this.#fanOut = fanOut;
    this.#context = { hub, tickerOf: createTickers(), giveUp, tellStructure: () => this.#tellStructure() };
  }

  /** Tells of a new parameter. */
  declare(feed: Feed): void {
    this.#cameAt = this.#hub.revision;
    if (this.#views.size === 0) return;
    this.#tellSoon();
    this.#came.push(feed);
  }

  /** Tells of a parameter that is no more. */
  forget(feed: Feed): void {
    this.#goneAt = this.#hub.revision;
    if (this.#views.size === 0) return;
    this.#tellSoon();
    this.#gone.push(feed);
  }

  /** Whether a client that was at a revision can be brought up to date by what changed since. */
  canResume(revision: number): boolean {
    return revision <= this.#hub.revision && revision > this.#cameAt && revision > this.#goneAt;
  }

  /**
   * Adds a subscription of a client, or replaces the one of its number, and has it sent what is new to it: all, or what changed
   * after a revision; undefined: what it lacks of the one that is replaced, which had the same patterns.
   */
  subscribe(client: Client, subscription: Subscription, from: number | undefined): void {
    const { id } = subscription;
    const ends = [...new Set([...(client.catchUp?.ends ?? []), id])];
    const pictures = this.#leave(client);
    const others = pictures.filter((picture) => picture.subscription.id !== id);
    const replaced = pictures.find((picture) => picture.subscription.id === id);
    const own = from === undefined ? { ...replaced!, subscription } : { subscription, from, isNew: from === 0 };
    this.#enter(client, new Map(client.subscriptions).set(id, subscription), [...others, own], ends);
  }

  /** Ends a subscription of a client. */
  unsubscribe(client: Client, id: number): void {
    const ends = (client.catchUp?.ends ?? []).filter((end) => end !== id);
    const pictures = this.#leave(client).filter(({ subscription }) => subscription.id !== id);
    const subscriptions = new Map(client.subscriptions);
    subscriptions.delete(id);
    this.#enter(client, subscriptions, pictures, ends);
  }

  /** Forgets a client, whose socket may be closed. */
  remove(client: Client): void {
    if (client.view !== undefined) this.#part(client, client.view);
  }

  /** Goes on with a client that reads again. */
  resume(client: Client): void {
    const { view, catchUp } = client;
    if (view === undefined || client.place >= 0) return;
    if (this.#goneAt >= client.seen) {
      this.#context.giveUp(client); // it was not told what has gone
      return;
    }
    if (catchUp === undefined) {
      if (this.#cameAt >= client.seen) client.definedAfter = Math.max(client.definedAfter, client.seen);
      const owed = client.segment === undefined ? [] : view.tellLosses(client);
      const pictures = view.isExact ? [] : picturesSince(client);
      client.catchUp = new CatchUp({ hub: this.#hub, fanOut: this.#fanOut }, client, pictures, []);
      if (view.isExact) {
        client.catchUp.owe(owed);
        view.countLosses(client, false);
      }
    } else if (client.segment !== undefined && client.missesOnlyFires) view.tellLosses(client);
    this.#queue.add(client);
  }

  /** Puts a client into the view of its subscriptions, where it is live once it has been sent the pictures. */
  #enter(
    client: Client,
    subscriptions: ReadonlyMap<number, Subscription>,
    pictures: readonly Picture[],
    ends: readonly number[],
  ): void {
    client.subscriptions = subscriptions;
    if (subscriptions.size === 0) return;
    client.view = this.#viewOf(subscriptions);
    client.view.behind.add(client);
    client.catchUp = new CatchUp({ hub: this.#hub, fanOut: this.#fanOut }, client, pictures, ends);
    this.#queue.add(client);
  }

  /** Takes a client out of its view; returns what it lacks of what it subscribed to. */
  #leave(client: Client): Picture[] {
    const { view, catchUp } = client;
    if (view === undefined) return [];
    if (client.place >= 0) view.flush();
    if (client.place >= 0) client.seen = this.#hub.revision;
    if (client.segment !== undefined) view.tellLosses(client);
    this.#part(client, view);
    return catchUp === undefined || catchUp.remaining.length === 0 ? picturesSince(client) : catchUp.remaining;
  }

  #part(client: Client, view: View): void {
    this.#queue.remove(client);
    view.leave(client);
    client.view = undefined;
    client.catchUp = undefined;
    if (view.live.length > 0 || view.behind.size > 0) return;
    this.#views.delete(view.key);
    this.#fanOut.leave(view);
  }

  #viewOf(subscriptions: ReadonlyMap<number, Subscription>): View {
    const key = [...new Set([...subscriptions.values()].map((subscription) => subscription.key))].sort().join('\n');
    let view = this.#views.get(key);
    if (view === undefined) {
      view = new View(key, this.#context, subscriptions.values());
      this.#views.set(key, view);
      this.#fanOut.join(view);
    }
    return view;
  }

  #tellSoon(): void {
    if (this.#came.length + this.#gone.length > 0) return;
    for (const view of this.#views.values()) view.flush(); // what changed before comes before
    setImmediate(() => this.#tellStructure());
  }

  #tellStructure(): void {
    if (this.#came.length + this.#gone.length === 0) return;
    const came = this.#came;
    const gone = this.#gone;
    this.#came = [];
    this.#gone = [];
    for (const view of this.#views.values()) {
      const isHeard = ({ parameter }: Feed) => view.matches(parameter.address);
      for (const ids of cut(gone.filter(isHeard).map(({ id }) => String(id)))) view.sendToAll(`{"undef":[${ids}]}`);
      for (const definitions of cut(came.filter(isHeard).map(definition))) view.sendToAll(defFrame(definitions));
    }
  }
}

/** All subscriptions of a client that was live, or has not been sent what it missed. */
function picturesSince(client: Client): Picture[] {
  return [...client.subscriptions.values()].map((subscription) => ({
    subscription,
    from: client.seen,
    isNew: false,
  }));
}
