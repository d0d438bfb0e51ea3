// One value that hubs share: whoever wants to replace it must know the newest one, so that of several who try at once one wins.

/** What a cell holds; `sequence` grows with each value, 0: it has never held one. */
export interface Held<T> {
  readonly sequence: number;
  readonly value: T | undefined;
}

export interface Register<T> {
  /** Reads the newest value. Rejects when the servers do not answer. */
  read(): Promise<Held<T>>;
  /**
   * Replaces the value of a sequence, and resolves with the new sequence; undefined: there is a newer value. After a rejection
   * nobody knows whether the value was replaced, and it may still be; unless it is `NotReplaced`.
   */
  replace(value: T, sequence: number): Promise<number | undefined>;
}

/** A cell of somebody else, which is only read, and not created where there is none: then it holds nothing. */
export interface ForeignRegister<T> {
  /** Rejects when the servers do not answer. */
  peek(): Promise<Held<T>>;
}

/** It is certain that a value was not replaced, and will not be. */
export class NotReplaced extends Error {}
