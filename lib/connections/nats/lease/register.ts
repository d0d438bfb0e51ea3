// A compare-and-set register: a single value that several hubs share. To replace the value, a hub must name the newest value. Therefore,
// only one of several concurrent attempts succeeds.

/** The value of a register and its sequence number. The number increases with each value and is 0 if the register has never had a value. */
export interface Held<T> {
  readonly sequence: number;
  readonly value: T | undefined;
}

export interface Register<T> {
  /** Resolves to the newest value. Rejects if the servers do not answer. */
  read(): Promise<Held<T>>;
  /**
   * Replaces the value if its sequence number is still `sequence`. Resolves to the new sequence number, or to undefined if there is a newer
   * value. After a rejection, the value may have been replaced or may still be replaced later, unless the error is `NotReplaced`.
   */
  replace(value: T, sequence: number): Promise<number | undefined>;
}

/** A register that belongs to another hub. The register is only read and never created; a missing register counts as empty. */
export interface ForeignRegister<T> {
  /** Resolves to the newest value. Rejects if the servers do not answer. */
  peek(): Promise<Held<T>>;
}

/** Thrown if a write has definitely not replaced the value and will not replace it later. */
export class NotReplaced extends Error {}
