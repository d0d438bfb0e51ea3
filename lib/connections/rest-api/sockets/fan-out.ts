// Fans changes out to audiences. Which of them a parameter matches is found out at its first change after they came, and
// remembered: one comparison of numbers per change says that nobody has come or left.

import type { Change, Parameter } from '../../../model/parameter.ts';
import { type Audience, Feed } from './feed.ts';

/** How many audiences that have left parameters may remember, if fewer than this are there. */
const maxForgotten = 64;

export class FanOut {
  /** Bounded by the number of parameters, of which it forgets those that are no more. */
  readonly #feeds = new Map<Parameter, Feed>();
  /** Those of the feeds. */
  readonly #parameters = new Map<number, Parameter>();
  /** In the order in which they came, each with its number in that order. */
  readonly #audiences = new Map<Audience, number>();
  /** The same as a list, so that those that a feed has not seen yet are found from its end; undefined: to be made anew. */
  #list: Audience[] | undefined = [];
  #came = 0;
  #left = 0;
  /** How many had left when all parameters forgot them. */
  #swept = 0;
  #nextId = 1;

  join(audience: Audience): void {
    this.#audiences.set(audience, ++this.#came);
    this.#list?.push(audience);
  }

  leave(audience: Audience): void {
    if (!this.#audiences.delete(audience)) return;
    this.#left++;
    this.#list = undefined;
    const { size } = this.#audiences;
    if (size === 0 || this.#left - this.#swept > Math.max(size, maxForgotten)) this.#sweep();
  }

  /** Tells a change to every audience that its parameter matches. */
  tell(change: Change): void {
    if (this.#audiences.size === 0) return;
    const feed = this.feedOf(change.parameter);
    if (feed.matched !== this.#came || feed.left !== this.#left) this.#match(feed);
    const { listeners } = feed;
    for (let index = 0; index < listeners.length; index++) listeners[index]!.tell(change);
    feed.revision = change.revision;
  }

  feedOf(parameter: Parameter): Feed {
    let feed = this.#feeds.get(parameter);
    if (feed === undefined) {
      feed = new Feed(parameter, this.#nextId++);
      this.#feeds.set(parameter, feed);
      this.#parameters.set(feed.id, parameter);
    }
    return feed;
  }

  /** What sockets know a parameter by; undefined: they do not, or no more. */
  idOf(parameter: Parameter): number | undefined {
    return this.#feeds.get(parameter)?.id;
  }

  /** The parameter that sockets know by this number. */
  parameterOf(id: number): Parameter | undefined {
    return this.#parameters.get(id);
  }

  /** Forgets a parameter that is no more; returns what it was to sockets. */
  forget(parameter: Parameter): Feed | undefined {
    const feed = this.#feeds.get(parameter);
    if (feed === undefined) return undefined;
    this.#feeds.delete(parameter);
    this.#parameters.delete(feed.id);
    return feed;
  }

  /** Forgets those who have left also where nothing changes. */
  #sweep(): void {
    this.#swept = this.#left;
    for (const feed of this.#feeds.values()) this.#forgetLeft(feed);
  }

  #forgetLeft(feed: Feed): void {
    if (feed.left !== this.#left && feed.listeners.length > 0)
      feed.listeners = feed.listeners.filter(({ audience }) => this.#audiences.has(audience));
    feed.left = this.#left;
  }

  #match(feed: Feed): void {
    this.#forgetLeft(feed);
    this.#list ??= [...this.#audiences.keys()];
    let first = this.#list.length;
    while (first > 0 && this.#audiences.get(this.#list[first - 1]!)! > feed.matched) first--;
    for (const audience of this.#list.slice(first))
      if (audience.matches(feed.parameter)) feed.listeners.push(audience.listenTo(feed));
    feed.matched = this.#came;
  }
}
