// One measurement that serves several contenders: each takes it once, and who comes again has it made anew.

export class SharedMeasurement<T> {
  readonly #measure: () => Promise<T>;
  readonly #takers = new Set<string>();
  #measured: Promise<T> | undefined;

  constructor(measure: () => Promise<T>) {
    this.#measure = measure;
  }

  take(taker: string): Promise<T> {
    if (this.#measured === undefined || this.#takers.has(taker)) {
      this.#takers.clear();
      this.#measured = this.#measure();
    }
    this.#takers.add(taker);
    return this.#measured;
  }
}
