// The first message of a TLS client, byte for byte (RFC 5246 section 7.4.1.2): it offers what no TLS library of today would.

import { randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { openWire } from '../http.ts';

/** TLS 1.0 is 0x0301, 1.1 is 0x0302, 1.2 is 0x0303. */
export type TlsVersion = 0x0301 | 0x0302 | 0x0303;

/** Offers suites by their numbers; resolves to the one that the server chooses, undefined when it refuses all. */
export async function offerSuites(
  t: ExecutionContext,
  port: number,
  version: TlsVersion,
  suites: readonly number[],
): Promise<number | undefined> {
  const wire = await openWire(t, port);
  wire.send(clientHello(version, suites));
  const [type, , , , , message] = await wire.take(6);
  if (type !== 22 || message !== 2) return undefined; // an alert instead of a ServerHello
  const rest = await wire.take(3 + 2 + 32 + 1);
  const sessionBytes = rest.at(-1)!;
  return (await wire.take(sessionBytes + 2)).readUInt16BE(sessionBytes);
}

function clientHello(version: TlsVersion, suites: readonly number[]): Buffer {
  const extensions = [
    extension(10, sized(2, Buffer.concat([0x001d, 0x0017, 0x0018].map(word)))), // x25519, P-256, P-384
    extension(11, sized(1, Buffer.from([0]))),
    extension(13, sized(2, Buffer.concat([0x0403, 0x0503, 0x0804, 0x0805, 0x0401, 0x0501, 0x0201, 0x0203].map(word)))),
  ];
  const body = Buffer.concat([
    word(version),
    randomBytes(32),
    sized(1, Buffer.alloc(0)),
    sized(2, Buffer.concat(suites.map(word))),
    sized(1, Buffer.from([0])),
    sized(2, Buffer.concat(extensions)),
  ]);
  const message = Buffer.concat([Buffer.from([1]), sized(3, body)]);
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(2, message)]);
}

function extension(type: number, content: Buffer): Buffer {
  return Buffer.concat([word(type), sized(2, content)]);
}

function word(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

/** The content after its length. */
function sized(lengthBytes: number, content: Buffer): Buffer {
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(content.length, 0, lengthBytes);
  return Buffer.concat([length, content]);
}
