// A queue that gives the item with the lowest key first; here the unit that is to be woken next.

/** A binary heap; `push` and `pop` take O(log n). */
export class Heap<Item> {
  readonly #keys: number[] = [];
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** The lowest key; Infinity while there is none. */
  get firstKey(): number {
    return this.#keys.length === 0 ? Infinity : this.#keys[0]!;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  push(key: number, item: Item): void {
    const keys = this.#keys;
    const items = this.#items;
    let place = keys.length;
    keys.push(key);
    items.push(item);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (keys[parent]! <= key) break;
      keys[place] = keys[parent]!;
      items[place] = items[parent]!;
      place = parent;
    }
    keys[place] = key;
    items[place] = item;
  }

  /** Takes out the item with the lowest key. */
  pop(): Item | undefined {
    const keys = this.#keys;
    const items = this.#items;
    const first = items[0];
    const key = keys.pop();
    const item = items.pop();
    if (key === undefined || item === undefined || keys.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= keys.length) break;
      if (child + 1 < keys.length && keys[child + 1]! < keys[child]!) child++;
      if (keys[child]! >= key) break;
      keys[place] = keys[child]!;
      items[place] = items[child]!;
      place = child;
    }
    keys[place] = key;
    items[place] = item;
    return first;
  }
}
