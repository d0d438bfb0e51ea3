// A compare-and-set register: one value that hubs share. A hub must name the newest value to replace it, so one of several concurrent
// attempts wins.

/** The content of a register; `sequence` grows with each value, 0: it has never had one. */
export interface Held<T> {
  readonly sequence: number;
  readonly value: T | undefined;
}

export interface Register<T> {
  /** Reads the newest value. Rejects if the servers do not answer. */
  read(): Promise<Held<T>>;
  /**
   * Replaces the value of a sequence, and resolves to the new sequence; undefined: there is a newer value. After a rejection the value may
   * have been replaced or may still be, except after `NotReplaced`.
   */
  replace(value: T, sequence: number): Promise<number | undefined>;
}

/** A register of another hub. It is only read, and never created: one that does not exist is empty. */
export interface ForeignRegister<T> {
  /** Rejects if the servers do not answer. */
  peek(): Promise<Held<T>>;
}

/** It is certain that the value was not replaced, and will not be. */
export class NotReplaced extends Error {}
