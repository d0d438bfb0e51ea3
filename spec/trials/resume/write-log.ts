// What one writer has written: write n, from 1 on, sets a parameter to n and is one change of the hub. So what a client was told
// to be complete up to a revision can be held against what was written up to it.

export class WriteLog {
  readonly addresses: readonly string[];
  /** The address of each write; the first stands for none. */
  readonly #owners: string[] = [''];
  /** The hub's revision before the first write. */
  readonly #base: number;
  /** Up to which write the client has been held against it. */
  #checked = 0;

  constructor(addresses: readonly string[], base: number) {
    this.addresses = addresses;
    this.#base = base;
  }

  get writes(): number {
    return this.#owners.length - 1;
  }

  /** Notes the next write. */
  write(address: string): readonly [address: string, value: number] {
    return [address, this.#owners.push(address) - 1];
  }

  /** A client has dropped values: all is to be looked at again. */
  forget(): void {
    this.#checked = 0;
  }

  /** Says which writes up to a revision a client has not been told; its values never go back. */
  missingAt(revision: number, values: ReadonlyMap<string, number>): string | undefined {
    const last = Math.min(revision - this.#base, this.writes);
    let missing = 0;
    let first = '';
    for (; this.#checked < last; this.#checked++) {
      const write = this.#checked + 1;
      const address = this.#owners[write]!;
      const value = values.get(address);
      if (value !== undefined && value >= write) continue;
      missing++;
      first ||= `${address} was set to ${write}, the client has ${value}`;
    }
    return missing === 0 ? undefined : `revision ${revision} was told, and ${missing} writes are missing: ${first}`;
  }
}
