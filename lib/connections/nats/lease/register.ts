// A compare-and-set register: one value that hubs share. A hub must name the newest value to replace it, so one of several concurrent
// attempts wins.

/** The content of a register; `sequence` grows with each value; 0 if it has never had a value. */
export interface Held<T> {
  readonly sequence: number;
  readonly value: T | undefined;
}

export interface Register<T> {
  /** Reads the newest value. Rejects if the servers do not answer. */
  read(): Promise<Held<T>>;
  /**
   * Replaces the value with this sequence, and resolves to the new sequence; undefined if there is a newer value. After a rejection, the
   * value may have been replaced, or may be replaced later, except after `NotReplaced`.
   */
  replace(value: T, sequence: number): Promise<number | undefined>;
}

/** A register of another hub. It is only read, never created: if it does not exist, it is empty. */
export interface ForeignRegister<T> {
  /** Rejects if the servers do not answer. */
  peek(): Promise<Held<T>>;
}

/** The value was certainly not replaced, and will not be. */
export class NotReplaced extends Error {}
