// An address that is named in a text, and its location.

export interface NamedAddress {
  readonly address: string;
  readonly path: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Whether the text allows people to write to the address. */
  readonly isWritten: boolean;
  /** The part of the text that contains the address, without the location. The part stays the same if it was only moved. */
  readonly part: string;
}
