// What a database could not take, as the connection says it: once, for the first row; how many there were since is counted.

import type { LeftOut } from './thread/values/messages.ts';

export class LeftOutCount {
  readonly #what: string;
  /** How many rows were left out. */
  count = 0;
  /** The sentence for operators; undefined: all rows could be written. */
  text: string | undefined;

  /** `what` names the rows: `entries`. */
  constructor(what: string) {
    this.#what = what;
  }

  add(leftOut: LeftOut | undefined): void {
    if (leftOut === undefined) return;
    this.count += leftOut.count;
    this.text ??= `${this.#what} that the database cannot take are left out, the first one was ${leftOut.first}`;
  }
}
