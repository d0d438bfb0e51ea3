// Questions that wait for the thread that reads. Askers take turns, so that nobody waits for all that somebody else has asked.

export interface Waiting {
  readonly asker: string;
  /** What it costs to hand it over, in parameters. */
  readonly weight: number;
  /** Whether somebody still wants the answer. */
  isWanted(): boolean;
  /** Nobody did any more when its turn came. */
  drop(): void;
}

export class QuestionQueue<Item extends Waiting> {
  readonly #byAsker = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(item: Item): void {
    const waiting = this.#byAsker.get(item.asker);
    if (waiting === undefined) this.#byAsker.set(item.asker, [item]);
    else waiting.push(item);
    this.#size++;
  }

  /** Puts those back, of those that were taken last, that have not had their turn after all: they are the next ones. */
  putBack(items: readonly Item[]): void {
    const later = new Map(this.#byAsker);
    this.#byAsker.clear();
    for (const [asker, back] of Map.groupBy(items, (item) => item.asker)) {
      this.#byAsker.set(asker, [...back, ...(later.get(asker) ?? [])]);
      later.delete(asker);
    }
    for (const [asker, waiting] of later) this.#byAsker.set(asker, waiting);
    this.#size += items.length;
  }

  /** Takes the next ones that are still wanted, so many at most; the last one may go beyond the weight. */
  takeSome(most: number, mostWeight = Number.POSITIVE_INFINITY): Item[] {
    const items: Item[] = [];
    for (let weight = 0; items.length < most && weight < mostWeight; ) {
      const next = this.take();
      if (next === undefined) break;
      weight += next.weight;
      items.push(next);
    }
    return items;
  }

  /** Takes the next one that is still wanted; undefined: there is none. */
  take(): Item | undefined {
    for (const [asker, waiting] of this.#byAsker) {
      this.#byAsker.delete(asker);
      const next = this.#takeWanted(waiting);
      if (waiting.length > 0) this.#byAsker.set(asker, waiting);
      if (next !== undefined) return next;
    }
    return undefined;
  }

  #takeWanted(waiting: Item[]): Item | undefined {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      this.#size--;
      if (item.isWanted()) return item;
      item.drop();
    }
    return undefined;
  }
}
