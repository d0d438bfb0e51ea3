// The views of a server, and how clients move between them: what a client subscribes to anew it is sent whole, and of what it
// had before it misses nothing.

import type { HubPort } from '../../../hub-port.ts';
import { WorkQueue } from '../../pacing/work-queue.ts';
import type { Channel } from '../channel.ts';
import type { FanOut } from '../fan-out.ts';
import type { Client } from './client.ts';
import { cut, defFrame, definition } from './frames.ts';
import { View, type ViewContext } from './group/group.ts';
import { createTickers } from './group/ticker.ts';
import { CatchUp, type Picture, picturesSince } from './members/catch-up.ts';
import type { Subscription } from './subscription.ts';

/** How much of each round of the event loop is for clients that are behind. */
const catchUpRoundMs = 2;

export class Views {
  readonly #hub: HubPort;
  readonly #fanOut: FanOut;
  readonly #context: ViewContext;
  /** Clients that are behind take turns. */
  readonly #queue = new WorkQueue<Client>({
    roundMs: catchUpRoundMs,
    advance: (client, endMs) => this.#advance(client, endMs),
    addressOf: ({ address }) => address,
  });
  /** Bounded by the number of clients. */
  readonly #views = new Map<string, View>();
  /** Parameters that have come and gone and of which clients do not know yet; bounded by what one reload swaps. */
  #came: Channel[] = [];
  #gone: Channel[] = [];
  /** The revisions at which parameters came and went last; -1: never since the start. */
  #cameAt = -1;
  #goneAt = -1;

  /** `giveUp` ends a client that reads too slowly. */
  constructor(hub: HubPort, fanOut: FanOut, giveUp: (client: Client) => void) {
    this.#hub = hub;
    this.#fanOut = fanOut;
    this.#context = { hub, fanOut, tickerOf: createTickers(), giveUp, tellStructure: () => this.#tellStructure() };
  }

  /** Tells of a new parameter. */
  declare(channel: Channel): void {
    this.#cameAt = this.#hub.revision;
    if (this.#views.size === 0) return;
    this.#tellSoon();
    this.#came.push(channel);
  }

  /** Tells of a parameter that is no more. */
  forget(channel: Channel): void {
    if (this.#goneAt < this.#hub.revision) for (const view of this.#views.values()) view.flush(); // what it was last
    this.#goneAt = this.#hub.revision;
    if (this.#views.size === 0) return;
    this.#tellSoon();
    this.#gone.push(channel);
  }

  /** Whether a client that was at a revision can be brought up to date by what changed since. */
  canResume(revision: number): boolean {
    return revision <= this.#hub.revision && revision > this.#cameAt && revision > this.#goneAt;
  }

  /**
   * Adds a subscription of a client, or replaces the one of its number, says so with `answer`, and has the client sent what is
   * new to it: all, or what changed after a revision; undefined: what it lacks of the one that is replaced, which had the same
   * patterns.
   */
  subscribe(client: Client, subscription: Subscription, from: number | undefined, answer: string): void {
    const { id } = subscription;
    const ends = [...new Set([...(client.catchUp?.ends ?? []), id])];
    this.#move(client, [...without(client, id), subscription], ends, answer, (pictures) => {
      const others = pictures.filter((picture) => picture.subscription.id !== id);
      if (from !== undefined) return [...others, { subscription, from, isNew: from === 0 }];
      const replaced = pictures.filter((picture) => picture.subscription.id === id);
      return [...others, ...replaced.map((picture) => ({ ...picture, subscription }))];
    });
  }

  /** Ends a subscription of a client, and says so with `answer`. */
  unsubscribe(client: Client, id: number, answer: string): void {
    const ends = (client.catchUp?.ends ?? []).filter((end) => end !== id);
    this.#move(client, without(client, id), ends, answer, (pictures) =>
      pictures.filter(({ subscription }) => subscription.id !== id),
    );
  }

  /** Forgets a client, whose socket may be closed. */
  remove(client: Client): void {
    const { view } = client;
    if (view === undefined) return;
    view.leave(client);
    this.#part(client, view);
    client.forgive();
    client.unsent = [];
  }

  /** Goes on with a client that reads again. */
  resume(client: Client): void {
    const { view } = client;
    if (view === undefined) return;
    if (client.place >= 0 && client.missed.size > 0) view.settle(client); // before it is sent anything that is newer
    this.#queue.add(client);
  }

  /** Puts a client into the view of its subscriptions. One that is live stays so, and is sent what it lacks besides. */
  #move(
    client: Client,
    subscriptions: readonly Subscription[],
    ends: readonly number[],
    answer: string,
    change: (pictures: Picture[]) => Picture[],
  ): void {
    const { view: before, catchUp } = client;
    const isLive = client.place >= 0;
    const wasCounted = before !== undefined && !isLive && !client.missesOnlyFires;
    if (before !== undefined) {
      before.take(client);
      this.#part(client, before);
    }
    client.send(answer);
    client.subscriptions = subscriptions;
    if (subscriptions.length === 0) {
      client.missesOnlyFires = true;
      client.behindSinceMs = undefined;
      client.forgive();
      return;
    }
    let pictures = change(catchUp?.remaining ?? []);
    const view = this.#viewOf(subscriptions);
    if (wasCounted && !view.isExact) {
      client.seen = this.#hub.revision;
      pictures = picturesSince(client, pictures);
    }
    client.view = view;
    view.enter(client, isLive);
    client.catchUp = new CatchUp(this.#context, client, pictures, ends);
    this.#queue.add(client);
  }

  /** Works for a client until then; returns whether there is more to do at once. */
  #advance(client: Client, endMs: number): boolean {
    const view = client.view!;
    this.#tellStructure();
    if (client.view !== view) return false; // it was given up
    while (client.unsent.length > 0 && !client.isFull) {
      client.send(client.unsent[0]!);
      client.unsent = client.unsent.slice(1);
    }
    if (client.isFull) return false;
    if (client.segment !== undefined || client.missed.size > 0) view.settle(client);
    if (client.isFull || client.catchUp === undefined) return false;
    const stopped = client.catchUp.run(endMs);
    if (stopped !== 'done') return stopped === 'more';
    view.goLive(client);
    if (client.missed.size > 0) return false; // it is full
    client.catchUp.end(this.#hub.revision);
    client.catchUp = undefined;
    return false;
  }

  #part(client: Client, view: View): void {
    this.#queue.remove(client);
    client.view = undefined;
    client.catchUp = undefined;
    if (view.live.length > 0 || view.behind.size > 0) return;
    this.#views.delete(view.key);
    this.#fanOut.leave(view);
  }

  #viewOf(subscriptions: readonly Subscription[]): View {
    const key = [...new Set(subscriptions.map((subscription) => subscription.key))].sort().join('\n');
    let view = this.#views.get(key);
    if (view === undefined) {
      view = new View(key, this.#context, subscriptions);
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
      const isHeard = ({ parameter }: Channel) => view.matches(parameter);
      for (const ids of cut(gone.filter(isHeard).map(({ id }) => String(id)))) view.sendToAll(`{"undef":[${ids}]}`);
      for (const definitions of cut(came.filter(isHeard).map(definition))) view.sendToAll(defFrame(definitions));
    }
  }
}

function without(client: Client, id: number): Subscription[] {
  return client.subscriptions.filter((subscription) => subscription.id !== id);
}
