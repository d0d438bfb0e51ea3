// Encodes and decodes PUBLISH packets with QoS 0, which nearly all messages use (MQTT 3.1.1 and 5, section 3.3). The MQTT client would take
// several times as long.

/** The maximum length of a topic, in bytes. */
export const maxTopicBytes = 65_535;

/** A message that was published to a topic. */
export interface Published {
  readonly topic: string;
  readonly payload: Buffer;
  readonly isRetained: boolean;
}

/**
 * Encodes a PUBLISH packet. `text` consists of the topic, a space and the payload; `topicBytes` is the length of the topic in bytes.
 * `property` is the name and value of a user property (MQTT 5 only).
 */
export function writePublish(
  text: Buffer,
  topicBytes: number,
  isRetained: boolean,
  version: 4 | 5,
  property?: readonly [name: string, value: string],
): Buffer {
  const properties = version === 4 ? none : property === undefined ? noProperties : writeProperty(property);
  const payloadBytes = text.length - topicBytes - 1;
  const restBytes = 2 + topicBytes + properties.length + payloadBytes;
  const packet = Buffer.allocUnsafe(
    1 + (restBytes < 128 ? 1 : restBytes < 16_384 ? 2 : restBytes < 2_097_152 ? 3 : 4) + restBytes,
  );
  packet[0] = isRetained ? 0x31 : 0x30;
  let at = writeLength(packet, 1, restBytes);
  packet[at++] = topicBytes >> 8;
  packet[at++] = topicBytes & 255;
  at += text.copy(packet, at, 0, topicBytes);
  at += properties.copy(packet, at);
  text.copy(packet, at, topicBytes + 1);
  return packet;
}

const none = Buffer.alloc(0);
const noProperties = Buffer.from([0]);
const userProperty = 38;

function writeProperty(pair: readonly string[]): Buffer {
  const texts = pair.map((text) => Buffer.from(text));
  const bytes = texts.reduce((sum, { length }) => sum + 2 + length, 1);
  const property = Buffer.alloc((bytes < 128 ? 1 : 2) + bytes);
  let at = writeLength(property, 0, bytes);
  property[at++] = userProperty;
  for (const text of texts) {
    at = property.writeUInt16BE(text.length, at);
    at += text.copy(property, at);
  }
  return property;
}

/** Writes a length as a variable byte integer (7 bits per byte) and returns the offset after it. */
function writeLength(into: Buffer, start: number, length: number): number {
  let at = start;
  for (let rest = length; ; rest >>= 7) {
    into[at++] = rest < 128 ? rest : (rest & 127) | 128;
    if (rest < 128) return at;
  }
}

/**
 * Returns the length of the packet at `start`, including its header, in bytes. Returns undefined if the header is incomplete, and NaN if it
 * is malformed.
 */
export function packetLength(bytes: Uint8Array, start: number): number | undefined {
  let rest = 0;
  for (let place = 0; place < 4; place++) {
    const byte = bytes[start + 1 + place];
    if (byte === undefined) return undefined;
    rest += (byte & 127) * 128 ** place;
    if (byte < 128) return 2 + place + rest;
  }
  return Number.NaN;
}

/**
 * Reads the packet from `start` to `end`. Returns undefined if the packet is of another kind, has properties or is malformed, so that the
 * client has to read it.
 */
export function readPublish(bytes: Buffer, start: number, end: number, version: 4 | 5): Published | undefined {
  if ((bytes[start]! & 0xfe) !== 0x30) return undefined;
  let at = start + 1;
  while (bytes[at]! >= 128) at++;
  at++;
  if (at + 2 > end) return undefined;
  const topicEnd = at + 2 + bytes.readUInt16BE(at);
  const payloadAt = version === 5 ? topicEnd + 1 : topicEnd;
  if (topicEnd === at + 2 || payloadAt > end || (version === 5 && bytes[topicEnd] !== 0)) return undefined;
  return {
    topic: bytes.toString('utf8', at + 2, topicEnd),
    payload: bytes.subarray(payloadAt, end),
    isRetained: (bytes[start]! & 1) === 1,
  };
}
