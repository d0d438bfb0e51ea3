// The numbers of a window that moves on, with their least, greatest, mean and count. To add one costs the same however many
// there are.

interface Item {
  readonly number: number;
  readonly timeMs: number;
}

export class SlidingWindow {
  #items: Item[] = [];
  /** Items before this index have left. */
  #first = 0;
  #sum = 0;
  /** How many have left since the sum was computed anew, which rounding makes necessary. */
  #leftSinceSum = 0;
  /** Items that may become the least or the greatest: each is less, or greater, than all before it that are left. */
  #least: Item[] = [];
  #greatest: Item[] = [];

  get count(): number {
    return this.#items.length - this.#first;
  }

  get oldestMs(): number {
    return this.#items[this.#first]!.timeMs;
  }

  get least(): number {
    return this.#least[0]!.number;
  }

  get greatest(): number {
    return this.#greatest[0]!.number;
  }

  get mean(): number {
    return this.#sum / this.count;
  }

  add(number: number, timeMs: number): void {
    const item = { number, timeMs };
    this.#items.push(item);
    this.#sum += number;
    while (this.#least.length > 0 && this.#least.at(-1)!.number >= number) this.#least.pop();
    this.#least.push(item);
    while (this.#greatest.length > 0 && this.#greatest.at(-1)!.number <= number) this.#greatest.pop();
    this.#greatest.push(item);
  }

  /** Lets the oldest leave. */
  drop(): void {
    const item = this.#items[this.#first++]!;
    if (this.#least[0] === item) this.#least.shift();
    if (this.#greatest[0] === item) this.#greatest.shift();
    this.#sum -= item.number;
    if (++this.#leftSinceSum >= this.count) this.#tidy();
  }

  clear(): void {
    this.#items = [];
    this.#least = [];
    this.#greatest = [];
    this.#first = this.#sum = this.#leftSinceSum = 0;
  }

  #tidy(): void {
    this.#items = this.#items.slice(this.#first);
    this.#first = 0;
    this.#leftSinceSum = 0;
    this.#sum = this.#items.reduce((sum, { number }) => sum + number, 0);
  }
}
