// The package osc-min, an implementation of OSC that others have written: the other side of specs. Loaded by name, so that types do not
// need it to be installed.

interface OscMin {
  /** Encodes `{ address, args }` or `{ timetag, elements }`. */
  toBuffer(packet: object): DataView;
  fromBuffer(bytes: Uint8Array): { readonly oscType: 'bundle' | 'message' };
}

const name: string = 'osc-min';

export const { toBuffer, fromBuffer } = (await import(name)) as OscMin;
