// The packets for DMX over IP networks: sACN (ANSI E1.31-2018) and Art-Net 4. A universe has up to 512 channels of one byte each.

/** The maximum number of channels in a universe. */
export const maxChannels = 512;

/** The channel values of one universe, as sent by one source. */
export interface DmxPacket {
  readonly kind: 'dmx';
  readonly universe: number;
  /** One byte for each channel, starting with channel 1; at most 512 bytes. */
  readonly channels: Uint8Array;
  /** The priority, from 0 to 200. The highest priority wins. For Art-Net, which has no priorities, the priority is always 100. */
  readonly priority: number;
  /** The sequence number, from 0 to 255. For Art-Net, 0 means that the source does not count its packets. */
  readonly sequence: number;
  /** The identity of the source: the CID for sACN, or '' for Art-Net, where the sender's address identifies the source. */
  readonly source: string;
  readonly isTerminated: boolean;
}

/** A report from an Art-Net node about the universes that it outputs. */
export interface NodePacket {
  readonly kind: 'node';
  readonly universes: readonly number[];
}

export type Packet = DmxPacket | NodePacket | { readonly kind: 'poll' } | { readonly kind: 'other' };

/** The values of a universe that the hub sends, and the hub's identity as the source. */
export interface SentUniverse {
  readonly universe: number;
  readonly channels: Uint8Array;
  readonly sequence: number;
  readonly priority: number;
  readonly name: string;
  /** The hub's CID (component identifier), which has 16 bytes. */
  readonly cid: Uint8Array;
  readonly isTerminated: boolean;
}

/** A protocol that transports DMX over an IP network. */
export interface DmxProtocol {
  readonly port: number;
  readonly universes: readonly [least: number, most: number];
  /** The time after which a silent source is considered lost, in milliseconds. */
  readonly idleTimeoutMs: number;
  encode(sent: SentUniverse): Buffer;
  /** Decodes a packet. If the bytes are not a valid packet, returns the reason as a sentence. */
  decode(bytes: Buffer): Packet | string;
  /** Returns the universe number in a packet that `encode` has returned. */
  universeOf(packet: Buffer): number;
  /** Returns whether a packet is not newer than the previous packet from the same source, based on their sequence numbers. */
  isOld(sequence: number, before: number): boolean;
}

// sACN

const acnIdentifier = Buffer.from('ASC-E1.17\0\0\0', 'latin1');
const sacnHeadBytes = 126;
const [rootData, rootExtended, framingData] = [4, 8, 2];
const [preview, terminated] = [0x80, 0x40];
/** The universe on which a source lists the universes that it sends (universe discovery). */
const discoveryUniverse = 64_214;
/** The maximum number of universes on one page of a universe list. */
const universesPerPage = 512;

export const sacn: DmxProtocol = {
  port: 5568,
  universes: [1, 63_999],
  idleTimeoutMs: 2500,
  encode({ universe, channels, sequence, priority, name, cid, isTerminated }) {
    const packet = Buffer.alloc(sacnHeadBytes + channels.length);
    writeRoot(packet, rootData, cid);
    writeLength(packet, 38);
    packet.writeUInt32BE(framingData, 40);
    writeName(packet, name, 44, 64);
    packet[108] = priority;
    packet[111] = sequence;
    packet[112] = isTerminated ? terminated : 0;
    packet.writeUInt16BE(universe, 113);
    writeLength(packet, 115);
    packet[117] = 2; // the DMP Set Property command
    packet[118] = 0xa1; // the address type and data type
    packet.writeUInt16BE(1, 121);
    packet.writeUInt16BE(1 + channels.length, 123);
    packet.set(channels, sacnHeadBytes);
    return packet;
  },
  decode(packet) {
    if (packet.length < 38 || packet.readUInt32BE(0) !== 0x0010_0000 || !packet.subarray(4, 16).equals(acnIdentifier))
      return 'expected an sACN packet';
    const vector = packet.readUInt32BE(18);
    if (vector === rootExtended) return { kind: 'other' }; // a synchronization packet or a universe list
    if (vector !== rootData) return `expected the root vector 4 or 8, got ${vector}`;
    if (packet.length < sacnHeadBytes) return `expected at least ${sacnHeadBytes} bytes, got ${packet.length}`;
    if (packet.readUInt32BE(40) !== framingData || packet[117] !== 2 || packet[118] !== 0xa1)
      return 'expected an sACN packet with channel values';
    const count = packet.readUInt16BE(123) - 1;
    if (count < 0 || count > maxChannels || packet.length < sacnHeadBytes + count)
      return `expected 0..${maxChannels} channels in the packet, got ${count} in ${packet.length} bytes`;
    const [priority, options, universe] = [packet[108]!, packet[112]!, packet.readUInt16BE(113)];
    if (priority > 200) return `expected a priority 0..200, got ${priority}`;
    if (universe < 1 || universe > 63_999) return `expected a universe 1..63999, got ${universe}`;
    if (packet[125] !== 0 || (options & preview) !== 0) return { kind: 'other' };
    return {
      kind: 'dmx',
      universe,
      channels: packet.subarray(sacnHeadBytes, sacnHeadBytes + count),
      priority,
      sequence: packet[111]!,
      source: packet.toString('hex', 22, 38),
      isTerminated: (options & terminated) !== 0,
    };
  },
  universeOf: (packet) => (packet.readUInt32BE(18) === rootData ? packet.readUInt16BE(113) : discoveryUniverse),
  isOld(sequence, before) {
    const step = ((sequence - before + 384) % 256) - 128; // −128 to 127
    return step <= 0 && step > -20; // E1.31, section 6.7.2
  },
};

/** Returns the packets that list the universes that a source sends, as E1.31 requires every ten seconds. */
export function listOfUniverses(universes: readonly number[], name: string, cid: Uint8Array): Buffer[] {
  const sorted = [...universes].sort((a, b) => a - b);
  const last = Math.max(0, Math.ceil(sorted.length / universesPerPage) - 1);
  return Array.from({ length: last + 1 }, (_, page) => {
    const listed = sorted.slice(page * universesPerPage, (page + 1) * universesPerPage);
    const packet = Buffer.alloc(120 + 2 * listed.length);
    writeRoot(packet, rootExtended, cid);
    writeLength(packet, 38);
    packet.writeUInt32BE(2, 40);
    writeName(packet, name, 44, 64);
    writeLength(packet, 112);
    packet.writeUInt32BE(1, 114);
    packet[118] = page;
    packet[119] = last;
    for (const [place, universe] of listed.entries()) packet.writeUInt16BE(universe, 120 + 2 * place);
    return packet;
  });
}

/** Returns the multicast address for a universe. */
export function groupOf(universe: number): string {
  return `239.255.${universe >> 8}.${universe & 255}`;
}

function writeRoot(packet: Buffer, vector: number, cid: Uint8Array): void {
  packet.writeUInt16BE(0x0010, 0);
  packet.set(acnIdentifier, 4);
  writeLength(packet, 16);
  packet.writeUInt32BE(vector, 18);
  packet.set(cid, 22);
}

/** Writes the length of the rest of the packet, together with the E1.31 flags. */
function writeLength(packet: Buffer, at: number): void {
  packet.writeUInt16BE(0x7000 | (packet.length - at), at);
}

/** Writes a string as UTF-8. Truncates it at a character boundary, so that a zero byte follows. */
function writeName(packet: Buffer, name: string, at: number, bytes: number): void {
  packet.write(name, at, bytes - 1, 'utf8');
}

// Art-Net

const artIdentifier = Buffer.from('Art-Net\0', 'latin1');
const artHeadBytes = 18;
const replyBytes = 239;
const [opPoll, opReply, opDmx] = [0x2000, 0x2100, 0x5000];
const protocolVersion = 14;
const portsPerReply = 4;

export const artNet: DmxProtocol = {
  port: 6454,
  universes: [0, 32_767],
  idleTimeoutMs: 10_000,
  encode({ universe, channels, sequence }) {
    const packet = Buffer.alloc(artHeadBytes + channels.length + (channels.length % 2)); // the length must be even
    writeOp(packet, opDmx);
    packet[12] = sequence === 0 ? 255 : sequence; // 0 means that packets are not counted
    packet[14] = universe & 255;
    packet[15] = universe >> 8;
    packet.writeUInt16BE(packet.length - artHeadBytes, 16);
    packet.set(channels, artHeadBytes);
    return packet;
  },
  decode(packet) {
    if (packet.length < 12 || !packet.subarray(0, 8).equals(artIdentifier)) return 'expected an Art-Net packet';
    const op = packet.readUInt16LE(8);
    if (op === opPoll) return { kind: 'poll' };
    if (op === opReply) return readReply(packet);
    if (op !== opDmx) return { kind: 'other' };
    if (packet.length < artHeadBytes) return `expected at least ${artHeadBytes} bytes, got ${packet.length}`;
    const count = packet.readUInt16BE(16);
    if (count > maxChannels || packet.length < artHeadBytes + count)
      return `expected 0..${maxChannels} channels in the packet, got ${count} in ${packet.length} bytes`;
    return {
      kind: 'dmx',
      universe: packet[14]! | ((packet[15]! & 127) << 8),
      channels: packet.subarray(artHeadBytes, artHeadBytes + count),
      priority: 100,
      sequence: packet[12]!,
      source: '',
      isTerminated: false,
    };
  },
  universeOf: (packet) => packet[14]! | (packet[15]! << 8),
  isOld(sequence, before) {
    if (sequence === 0 || before === 0) return false;
    const step = ((sequence - before + 384) % 256) - 128;
    return step < 0 && step > -20;
  },
};

export function artPoll(): Buffer {
  const packet = Buffer.alloc(14);
  writeOp(packet, opPoll);
  packet[12] = 2; // nodes also report changes on their own
  return packet;
}

/** The universes that the hub receives and sends, and the hub's name and address. */
export interface NodeReport {
  readonly receives: readonly number[];
  readonly sends: readonly number[];
  readonly name: string;
  /** The IPv4 address of the hub as seen by the sender of the poll. */
  readonly address: string;
}

/** Returns the answers to a poll. Each answer covers up to four universes whose numbers differ only in the lowest four bits. */
export function artReplies({ receives, sends, name, address }: NodeReport): Buffer[] {
  const ports = [
    ...receives.map((universe) => ({ universe, isOutput: true })),
    ...sends.map((universe) => ({ universe, isOutput: false })),
  ];
  const bySwitch = Map.groupBy(ports, ({ universe }) => universe >> 4);
  const groups = [...bySwitch.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / portsPerReply) }, (_, page) =>
      all.slice(page * portsPerReply, (page + 1) * portsPerReply),
    ),
  );
  return (groups.length === 0 ? [[]] : groups).map((group, index) => {
    const packet = Buffer.alloc(replyBytes);
    packet.set(artIdentifier);
    packet.writeUInt16LE(opReply, 8);
    const ip = address.split('.').map(Number);
    packet.set(ip, 10);
    packet.writeUInt16LE(artNet.port, 14);
    packet[18] = (group[0]?.universe ?? 0) >> 8;
    packet[19] = ((group[0]?.universe ?? 0) >> 4) & 15;
    packet.writeUInt16BE(0x00ff, 20); // the OEM code for an unregistered product
    writeName(packet, name, 26, 18);
    writeName(packet, name, 44, 64);
    packet.writeUInt16BE(group.length, 172);
    for (const [place, { universe, isOutput }] of group.entries()) {
      packet[174 + place] = isOutput ? 0x80 : 0x40;
      packet[(isOutput ? 182 : 178) + place] = 0x80; // data is being transmitted or received
      packet[(isOutput ? 190 : 186) + place] = universe & 15;
    }
    packet.set(ip, 207);
    packet[211] = index === 0 && groups.length <= 1 ? 0 : index + 1;
    packet[212] = 0x08; // 15-bit port addresses
    return packet;
  });
}

function readReply(packet: Buffer): Packet | string {
  if (packet.length < 194) return `expected at least 194 bytes, got ${packet.length}`;
  const high = ((packet[18]! & 127) << 8) | ((packet[19]! & 15) << 4);
  const universes: number[] = [];
  for (let place = 0; place < Math.min(portsPerReply, packet.readUInt16BE(172)); place++)
    if ((packet[174 + place]! & 0x80) !== 0) universes.push(high | (packet[190 + place]! & 15));
  return { kind: 'node', universes };
}

function writeOp(packet: Buffer, op: number): void {
  packet.set(artIdentifier);
  packet.writeUInt16LE(op, 8);
  packet.writeUInt16BE(protocolVersion, 10);
}

// Packets as text, for `patchbay wire` and tests

/** Returns a packet as text: `universe 1: 1=255 7=12`, with all channels that are not 0. For other packets, returns the kind of packet. */
export function showPacket(bytes: Uint8Array): string {
  const frame = Buffer.from(bytes);
  const packet = (frame.subarray(0, 8).equals(artIdentifier) ? artNet : sacn).decode(frame);
  if (typeof packet === 'string') return packet;
  if (packet.kind === 'node') return `node with universes ${packet.universes.join(', ') || '(none)'}`;
  if (packet.kind !== 'dmx') return packet.kind;
  const set = [...packet.channels].flatMap((value, place) => (value === 0 ? [] : [`${place + 1}=${value}`]));
  return `universe ${packet.universe}:${set.length === 0 ? ' all 0' : ` ${set.join(' ')}`}`;
}

/** Parses a packet in the format that `showPacket` produces. Errors: `Error` with a readable message. */
export function readShown(text: string): { readonly universe: number; readonly channels: Uint8Array } {
  const [, universe, values = ''] = /^universe (\d{1,5}):((?: \d{1,3}=\d{1,3})*| all 0)$/.exec(text.trim()) ?? [];
  const channels = new Uint8Array(maxChannels);
  const pairs = [...values.matchAll(/(\d+)=(\d+)/g)].map(([, channel, value]) => [Number(channel), Number(value)]);
  const isValid = pairs.every(([channel, value]) => channel! >= 1 && channel! <= maxChannels && value! <= 255);
  if (universe === undefined || !isValid)
    throw new Error(`expected channels 1..512 with values 0..255, such as "universe 1: 1=255 7=12", got "${text}"`);
  for (const [channel, value] of pairs) channels[channel! - 1] = value!;
  return { universe: Number(universe), channels };
}
