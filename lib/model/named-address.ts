// An address that is named in a document, and the location of the address.

export interface NamedAddress {
  readonly address: string;
  readonly path: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Whether the document allows its users to write to the address. */
  readonly isWritten: boolean;
  /** The part of the document that contains the address, without its location. The part stays the same if it is only moved. */
  readonly part: string;
}
