// Encodes and decodes PUBLISH packets with QoS 0, which nearly all messages use (MQTT 3.1.1 and 5, section 3.3). The MQTT client would take
// several times as long.

/** The maximum length of a topic, in bytes. */
const maxTopicBytes = 65_535;
/** The maximum size of a packet that the hub reads or sends, in bytes. */
export const maxPacketBytes = 16 * 1_048_576;

/** A message that was published to a topic. */
export interface Published {
  readonly topic: string;
  readonly payload: Buffer;
  readonly isRetained: boolean;
}

/** The size of a new buffer for packets, and the size above which a buffer is not used again, in bytes. */
const firstBytes = 4096;
const keptBytes = 65_536;
/** The maximum size of a packet's first byte and length, in bytes. */
const headBytes = 5;

/** Encodes PUBLISH packets into one buffer, because separate buffers for the packets would account for half of the hub's garbage. */
export class PublishWriter {
  readonly #version: 4 | 5;
  #bytes: Buffer = Buffer.allocUnsafeSlow(firstBytes);
  #end = 0;

  constructor(version: 4 | 5) {
    this.#version = version;
  }

  /** The number of bytes that `take` will return. */
  get length(): number {
    return this.#end;
  }

  /**
   * Adds a packet. `property` is the name and value of a user property (MQTT 5 only). Adds nothing and returns false if the topic or the
   * message is too long.
   */
  add(topic: string, payload: string, isRetained: boolean, property?: readonly [name: string, value: string]): boolean {
    const topicBytes = Buffer.byteLength(topic);
    const payloadBytes = Buffer.byteLength(payload);
    if (topicBytes > maxTopicBytes || topicBytes + payloadBytes >= maxPacketBytes) return false;
    const properties = this.#version === 4 ? none : property === undefined ? noProperties : writeProperty(property);
    const restBytes = 2 + topicBytes + properties.length + payloadBytes;
    this.#reserve(headBytes + restBytes);
    const bytes = this.#bytes;
    bytes[this.#end] = isRetained ? 0x31 : 0x30;
    let at = writeLength(bytes, this.#end + 1, restBytes);
    bytes[at++] = topicBytes >> 8;
    bytes[at++] = topicBytes & 255;
    at += bytes.write(topic, at);
    for (let place = 0; place < properties.length; place++) bytes[at++] = properties[place]!;
    this.#end = at + bytes.write(payload, at);
    return true;
  }

  /** Returns the packets that have been added, and starts over. */
  take(): Buffer {
    const packets = this.#bytes.subarray(0, this.#end);
    this.#end = 0;
    if (this.#bytes.length <= keptBytes) return Buffer.from(packets);
    this.#bytes = Buffer.allocUnsafeSlow(firstBytes);
    return packets;
  }

  #reserve(count: number): void {
    if (this.#end + count <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#end + count));
    this.#bytes.copy(grown, 0, 0, this.#end);
    this.#bytes = grown;
  }
}

/** The buffer for short strings, and the parts from its start, indexed by their length. Longer strings have buffers of their own. */
const textRoom = Buffer.allocUnsafeSlow(512);
const textParts: Buffer[] = [];
const maxBytesPerCharacter = 3;
const space = 32;

/** Returns a message in the form that is shown to people: the topic, a space and the payload. The buffer is valid until the next call. */
export function showPublished(topic: string, payload: Buffer | string): Buffer {
  const isText = typeof payload === 'string';
  const mostBytes = maxBytesPerCharacter * topic.length + 1 + (isText ? maxBytesPerCharacter : 1) * payload.length;
  if (mostBytes > textRoom.length)
    return isText ? Buffer.from(`${topic} ${payload}`) : Buffer.concat([Buffer.from(`${topic} `), payload]);
  let end = textRoom.write(topic);
  textRoom[end++] = space;
  end += isText ? textRoom.write(payload, end) : payload.copy(textRoom, end);
  const shown = textParts[end] ?? textRoom.subarray(0, end);
  textParts[end] = shown;
  return shown;
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
 * Returns the length of the packet at `start`, including its header, in bytes. Returns undefined if the header is incomplete, and NaN if
 * the header is malformed.
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
 * Reads the packet from `start` to `end`. Returns undefined if the packet is not a PUBLISH packet, has properties or is malformed; the MQTT
 * client then has to read it.
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
