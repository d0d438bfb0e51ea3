// What a client shows to an X server to be let in: a cookie, which the file of authority keeps (Xau, Xsecurity(7)).

import { homedir } from 'node:os';
import { join } from 'node:path';
import { readRegularFile } from '../../../../files/regular-file.ts';

/** A server, as the file names it. */
export interface Party {
  readonly family: number;
  readonly address: Buffer;
  /** The number of the display, `0`; empty: any display. */
  readonly number: string;
}

export interface Proof {
  readonly protocol: string;
  readonly data: Buffer;
}

const maxFileBytes = 1024 * 1024;
const anyFamily = 65535;
const cookieProtocol = 'MIT-MAGIC-COOKIE-1';
const nothing: Proof = { protocol: '', data: Buffer.alloc(0) };

/** Finds the first cookie for a server in the file of authority, or an empty proof, which many servers take. Never errs. */
export async function findProof(server: Party, path = join(homedir(), '.Xauthority')): Promise<Proof> {
  const bytes = await readRegularFile(path, maxFileBytes).catch(() => Buffer.alloc(0));
  for (const { party, proof } of readEntries(bytes))
    if (proof.protocol === cookieProtocol && isFor(party, server)) return proof;
  return nothing;
}

function isFor({ family, address, number }: Party, server: Party): boolean {
  const isAddress = family === anyFamily || (family === server.family && address.equals(server.address));
  return isAddress && (number === '' || server.number === '' || number === server.number);
}

/** Reads the entries of a file: a family, then address, number, protocol and data, each after its length, big-endian. */
function* readEntries(bytes: Buffer): Iterable<{ party: Party; proof: Proof }> {
  let place = 0;
  const number = () => {
    place += 2;
    return bytes.readUInt16BE(place - 2);
  };
  const field = () => {
    const length = number();
    place += length;
    if (place > bytes.length) throw new RangeError('cut off');
    return bytes.subarray(place - length, place);
  };
  try {
    while (place < bytes.length) {
      const family = number();
      const [address, display, protocol, data] = [field(), field(), field(), field()];
      yield {
        party: { family, address, number: display.toString('latin1') },
        proof: { protocol: protocol.toString('latin1'), data },
      };
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // the file is cut off, and the entries before that count
  }
}
