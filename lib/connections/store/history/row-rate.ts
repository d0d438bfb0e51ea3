// How many rows a second are written, over the last ten seconds.

const spanMs = 10_000;

export class RowRate {
  readonly #written: { readonly at: number; readonly rows: number }[] = [];

  /** Called about once a second; what is older than ten seconds is forgotten. */
  add(at: number, rows: number): void {
    this.#forget(at);
    this.#written.push({ at, rows });
  }

  perSecond(now: number): number {
    this.#forget(now);
    return this.#written.reduce((sum, { rows }) => sum + rows, 0) / (spanMs / 1000);
  }

  #forget(now: number): void {
    while (this.#written.length > 0 && this.#written[0]!.at <= now - spanMs) this.#written.shift();
  }
}
