// A compare-and-set register: one value that is shared by hubs. To replace the value, a hub must name the newest value, so one of several
// concurrent attempts wins.

/** The content of a register. `sequence` grows with each value, and is 0 if the register has never had a value. */
export interface Held<T> {
  readonly sequence: number;
  readonly value: T | undefined;
}

export interface Register<T> {
  /** Reads the newest value. Rejects if the servers do not answer. */
  read(): Promise<Held<T>>;
  /**
   * Replaces the value if its sequence is still `sequence`, and resolves to the new sequence; resolves to undefined if there is a newer
   * value. After a rejection, the value may have been replaced, or may be replaced later, except after `NotReplaced`.
   */
  replace(value: T, sequence: number): Promise<number | undefined>;
}

/** A register of another hub. Such a register is only read, never created; if it does not exist, it is empty. */
export interface ForeignRegister<T> {
  /** Reads the newest value. Rejects if the servers do not answer. */
  peek(): Promise<Held<T>>;
}

/** Thrown if the value was certainly not replaced, and will not be replaced later. */
export class NotReplaced extends Error {}
