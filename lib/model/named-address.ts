// An address that a text names, and its location.

export interface NamedAddress {
  readonly address: string;
  readonly path: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Whether the text lets people write it. */
  readonly isWritten: boolean;
  /** The part of the text that has it, without its place: equal if it was only moved. */
  readonly part: string;
}
