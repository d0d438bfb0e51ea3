// WebSocket inputs: a handshake, then frames with messages from the grammar of both protocols, some of them invalid as JSON, UTF-8 or
// frames.

import type { Random } from '../../support/random.ts';
import { anAddress, aText, aValue, deepJson, mutate, toJson, utf8 } from './texts.ts';

/** One socket and what is sent over it. Frames in order leave it open, if the hub has no reason to end it. */
export interface SocketInput {
  readonly kind: 'socket';
  readonly isV1: boolean;
  /** The query of /ws. */
  readonly query: string;
  /** The bytes of the frames, a character each. */
  readonly pieces: readonly string[];
  readonly isOrderly: boolean;
}

const mostFrames = 40;
const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9 } as const;
const ids = [0, 1, 2, 3, 31, 2 ** 31 - 1];

export function aSocketInput(random: Random): SocketInput {
  const isV1 = random.once(2);
  const query = random.once(3)
    ? `?snapshot=true&filter=${encodeURIComponent(aText(random).toWellFormed()).slice(0, 900)}`
    : '';
  const messages = Array.from({ length: 1 + random.below(mostFrames) }, () =>
    isV1 ? aV1Message(random) : aPlainMessage(random),
  );
  const pieces = messages.map((message) => frames(random, message));
  const isOrderly = !random.once(12);
  if (!isOrderly) pieces.splice(random.below(pieces.length + 1), 0, aWrongFrame(random, utf8(aPlainMessage(random))));
  return { kind: 'socket', isV1, query, pieces, isOrderly };
}

function aPlainMessage(random: Random): string {
  if (random.once(40)) return deepJson(random);
  if (random.once(10)) return toJson(random, aValue(random));
  const p = random.once(15) ? aValue(random) : anAddress(random);
  return toJson(random, random.once(15) ? { p } : { p, v: aValue(random) });
}

function aV1Message(random: Random): string {
  if (random.once(40)) return deepJson(random);
  switch (random.below(10)) {
    case 0:
      return toJson(random, { ping: random.once(3) ? aValue(random) : random.below(1000) });
    case 1:
      return toJson(random, { unsub: random.once(5) ? aValue(random) : random.pick(ids) });
    case 2:
    case 3:
      return toJson(random, aSubscription(random));
    case 4:
      return toJson(random, { [random.pick(['sub', 'set', 'unsub', 'ping', 'ack', aText(random)])]: aValue(random) });
    default: {
      const set: unknown = random.once(20)
        ? aValue(random)
        : random.list(random.once(10) ? 200 : 5, () => anItem(random));
      return toJson(random, random.once(2) ? { set, ack: random.once(8) ? aValue(random) : random.below(9) } : { set });
    }
  }
}

function anItem(random: Random): unknown {
  if (random.once(25)) return aValue(random);
  return [random.once(4) ? random.below(40) - 2 : anAddress(random), aValue(random)];
}

function aSubscription(random: Random): object {
  const patterns = () =>
    random.list(random.once(10) ? 60 : 3, () =>
      random.once(3) ? { regex: aText(random) } : random.once(2) ? '**' : aText(random),
    );
  const subscription: Record<string, unknown> = { sub: random.once(10) ? aValue(random) : random.pick(ids) };
  if (random.once(2)) subscription.include = random.once(15) ? aValue(random) : patterns();
  if (random.once(4)) subscription.exclude = random.once(15) ? aValue(random) : patterns();
  if (random.once(2)) subscription.rate = random.once(4) ? aValue(random) : random.pick([0, 0.1, 1, 60, 1000]);
  if (random.once(3)) subscription.delivery = random.once(8) ? aValue(random) : random.pick(['latest', 'all']);
  if (random.once(6))
    subscription.since = random.once(3) ? aValue(random) : { epoch: aText(random), rev: random.pick([0, 1, 1e9, -1]) };
  return subscription;
}

/** A message in one frame or several, with other frames between them. */
function frames(random: Random, message: string): string {
  let payload = utf8(message);
  if (random.once(100)) payload = mutate(random, payload);
  if (random.once(25)) return frame(opcodes.ping, payload.slice(0, 125)) + frame(opcodes.text, payload);
  if (random.once(25)) return frame(opcodes.binary, payload);
  if (!random.once(12)) return frame(opcodes.text, payload);
  const middle = random.below(payload.length + 1);
  const between = random.once(3) ? frame(opcodes.ping, 'x') : '';
  const rest = frame(opcodes.continuation, payload.slice(middle));
  return frame(opcodes.text, payload.slice(0, middle), { isLast: false }) + between + (random.once(5) ? '' : rest);
}

function aWrongFrame(random: Random, payload: string): string {
  switch (random.below(6)) {
    case 0:
      return frame(opcodes.text, payload, { isMasked: false });
    case 1:
      return frame(random.pick([3, 7, 11, 15]), payload.slice(0, 100));
    case 2:
      return frame(
        opcodes.close,
        random.pick(['', 'x', '\u0003\u00e8', '\u0000\u0000', '\u0003\u00e8\u00ff\u00fe', '\u000f\u00a0bye']),
      );
    case 3:
      return frame(opcodes.continuation, payload);
    case 4:
      return frame(opcodes.ping, payload.padEnd(130));
    default:
      return mutate(random, frame(opcodes.text | random.pick([0, 0x10, 0x20, 0x40]), payload));
  }
}

/** A frame as clients send it (RFC 6455 section 5.2), masked with zeros; a character per byte. */
export function frame(opcode: number, payload: string, { isLast = true, isMasked = true } = {}): string {
  const { length } = payload;
  const mask = isMasked ? 0x80 : 0;
  const size =
    length < 126
      ? [length | mask]
      : length < 65_536
        ? [126 | mask, length >> 8, length & 255]
        : [127 | mask, 0, 0, 0, 0, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255];
  return String.fromCharCode((isLast ? 0x80 : 0) | opcode, ...size) + (isMasked ? '\0\0\0\0' : '') + payload;
}
