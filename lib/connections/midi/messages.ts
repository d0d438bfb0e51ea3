// MIDI 1.0 messages: what the bytes in a frame mean, and which bytes carry a number. Source: MIDI 1.0 Detailed Specification 4.2.

/** The real-time messages and their bytes. Active sensing is not included, because it only shows that the device is online. */
export const realTimeBytes = { clock: 0xf8, start: 0xfa, continue: 0xfb, stop: 0xfc, reset: 0xff } as const;
export type RealTime = keyof typeof realTimeBytes;

/** The MIDI messages that a parameter receives and sends. */
export type Control =
  | {
      readonly kind: 'note' | 'control' | 'nrpn' | 'rpn' | 'keyPressure' | 'bend' | 'program' | 'pressure';
      readonly channel: number;
      readonly number: number;
      /** Whether a control change, an NRPN or an RPN has 14 bits. */
      readonly is14: boolean;
    }
  /** Bytes in hex, in which `??` stands for any byte; undefined stands for all messages. */
  | { readonly kind: 'sysex'; readonly pattern: string | undefined }
  | { readonly kind: 'realTime'; readonly name: RealTime };

/** What a frame means: a key for the parameters that receive it, and a number. */
export interface Heard {
  readonly key: string;
  readonly number: number;
}

/** Returns the key under which a control's messages are received. */
export function keyOf(control: Exclude<Control, { readonly kind: 'sysex' }>): string {
  if (control.kind === 'realTime') return control.name;
  const { kind, channel, number, is14 } = control;
  const size = kind === 'control' && is14 ? '14' : (kind === 'nrpn' || kind === 'rpn') && !is14 ? '7' : '';
  return `${kind}${size} ${channel} ${number}`;
}

interface ChannelState {
  /** The coarse halves of control changes 0 to 31. */
  readonly coarse: Map<number, number>;
  /** The selected parameter; undefined if none is selected. */
  selected: { isRegistered: boolean; high: number; low: number } | undefined;
  readonly data: Map<string, number>;
}

/** The lengths of messages, indexed by their first byte. For bytes below 0xF0, the length depends only on the upper half. */
export const lengthRules: readonly (number | { readonly end: number } | undefined)[] = Array.from(
  { length: 256 },
  (_, byte) => {
    if (byte < 0x80) return undefined;
    if (byte < 0xf0) return byte >= 0xc0 && byte < 0xe0 ? 2 : 3;
    if (byte === 0xf0) return { end: 0xf7 };
    return byte === 0xf2 ? 3 : byte === 0xf1 || byte === 0xf3 ? 2 : 1;
  },
);

const realTimeNames: ReadonlyMap<number, RealTime> = new Map(
  Object.entries(realTimeBytes).map(([name, byte]) => [byte, name as RealTime]),
);

/** Reads frames. Combines the two halves of a 14-bit number, and the control changes that make up an RPN or NRPN. */
export class Listener {
  readonly #channels = Array.from(
    { length: 16 },
    (): ChannelState => ({ coarse: new Map(), selected: undefined, data: new Map() }),
  );

  /** Returns what a frame means, unless it is a system exclusive message. An NRPN is returned in addition to its control changes. */
  read(frame: Uint8Array): readonly Heard[] {
    const [status = 0, first = 0, second = 0] = frame;
    if (status >= 0xf0) {
      const name = realTimeNames.get(status);
      return name === undefined ? [] : [{ key: name, number: 1 }];
    }
    const channel = (status & 0x0f) + 1;
    const one = (kind: string, number: number, value: number): Heard => ({
      key: `${kind} ${channel} ${number}`,
      number: value,
    });
    switch (status >> 4) {
      case 0x8:
        return [one('note', first, 0)];
      case 0x9:
        return [one('note', first, second)];
      case 0xa:
        return [one('keyPressure', first, second)];
      case 0xb:
        return this.#control(channel, first, second, one);
      case 0xc:
        return [one('program', 0, first)];
      case 0xd:
        return [one('pressure', 0, first)];
      default:
        return [one('bend', 0, (second << 7) | first)];
    }
  }

  #control(
    channel: number,
    number: number,
    value: number,
    one: (kind: string, number: number, value: number) => Heard,
  ): Heard[] {
    const state = this.#channels[channel - 1]!;
    const heard = [one('control', number, value)];
    if (number < 32) {
      state.coarse.set(number, value);
      heard.push(one('control14', number, value << 7));
    } else if (number < 64) {
      const coarse = state.coarse.get(number - 32);
      if (coarse !== undefined) heard.push(one('control14', number - 32, (coarse << 7) | value));
    }
    switch (number) {
      case 98:
      case 99:
      case 100:
      case 101: {
        const isRegistered = number >= 100;
        const { isRegistered: wasRegistered, high = 127, low = 127 } = state.selected ?? {};
        const [oldHigh, oldLow] = wasRegistered === isRegistered ? [high, low] : [127, 127];
        state.selected =
          number % 2 === 0 ? { isRegistered, high: oldHigh, low: value } : { isRegistered, high: value, low: oldLow };
        break;
      }
      case 6:
      case 38:
      case 96:
      case 97: {
        const { selected, data } = state;
        if (selected === undefined || (selected.high === 127 && selected.low === 127)) break;
        const kind = selected.isRegistered ? 'rpn' : 'nrpn';
        const selectedNumber = (selected.high << 7) | selected.low;
        const key = `${kind} ${selectedNumber}`;
        const before = data.get(key) ?? 0;
        const step = number === 96 ? 1 : -1;
        const now =
          number === 6
            ? value << 7
            : number === 38
              ? (before & 0x3f80) | value
              : Math.max(0, Math.min(16_383, before + step));
        if (data.size >= maxData && !data.has(key)) data.clear();
        data.set(key, now);
        heard.push(one(kind, selectedNumber, now));
        if (number === 6) heard.push(one(`${kind}7`, selectedNumber, value));
        break;
      }
    }
    return heard;
  }
}

/** The maximum number of NRPNs and RPNs per channel whose values the hub remembers. */
const maxData = 4096;

/** Returns the messages that send a number to a control. */
export function messagesFor(control: Control, number: number): readonly Uint8Array[] {
  if (control.kind === 'realTime') return [Uint8Array.of(realTimeBytes[control.name])];
  if (control.kind === 'sysex')
    return control.pattern === undefined ? [] : [Buffer.from(control.pattern.replaceAll(/\s/g, ''), 'hex')];
  const { kind, channel, number: own, is14 } = control;
  const at = (status: number, ...data: readonly number[]) => Uint8Array.of((status << 4) | (channel - 1), ...data);
  const [high, low] = [number >> 7, number & 0x7f];
  switch (kind) {
    case 'note':
      return [at(0x9, own, number)];
    case 'keyPressure':
      return [at(0xa, own, number)];
    case 'control':
      return is14 ? [at(0xb, own, high), at(0xb, own + 32, low)] : [at(0xb, own, number)];
    case 'program':
      return [at(0xc, number)];
    case 'pressure':
      return [at(0xd, number)];
    case 'bend':
      return [at(0xe, low, high)];
    case 'nrpn':
    case 'rpn': {
      const first = kind === 'nrpn' ? 99 : 101;
      const select = [at(0xb, first, own >> 7), at(0xb, first - 1, own & 0x7f)];
      return is14 ? [...select, at(0xb, 6, high), at(0xb, 38, low)] : [...select, at(0xb, 6, number)];
    }
  }
}

/** Returns whether a system exclusive message matches a pattern such as `F0 7F ?? 06 02 F7`. */
export function matchesSysex(pattern: string, frame: Uint8Array): boolean {
  const bytes = pattern.replaceAll(/\s/g, '').match(/../g) ?? [];
  return (
    bytes.length === frame.length &&
    bytes.every((byte, index) => byte === '??' || Number.parseInt(byte, 16) === frame[index])
  );
}

const names: Readonly<Record<number, string>> = {
  8: 'off',
  9: 'note',
  10: 'key-pressure',
  11: 'control',
  12: 'program',
  13: 'pressure',
  14: 'bend',
};

/** Returns a message in readable form: `1 note 60 127`, `1 control 7 100`, `1 bend 8192`, `F0 7F 01 F7`, `clock`. */
export function showMessage(frame: Uint8Array): string {
  const [status = 0, first = 0, second = 0] = frame;
  const realTime = realTimeNames.get(status);
  if (realTime !== undefined && frame.length === 1) return realTime;
  const kind = names[status >> 4];
  const length = lengthRules[status];
  if (kind === undefined || frame.length !== length)
    return Buffer.from(frame)
      .toString('hex')
      .toUpperCase()
      .replaceAll(/..(?=.)/g, '$& ');
  const channel = (status & 0x0f) + 1;
  if (kind === 'bend') return `${channel} bend ${(second << 7) | first}`;
  return `${channel} ${kind} ${length === 2 ? first : `${first} ${second}`}`;
}

/** Reads a message in readable form. Errors: `Error` with a readable message. */
export function readMessage(text: string): Uint8Array {
  const plain = text.trim();
  if (Object.hasOwn(realTimeBytes, plain)) return Uint8Array.of(realTimeBytes[plain as RealTime]);
  if (/^(?:[\da-f]{2}\s?)+$/i.test(plain) && /^[89a-f]/i.test(plain))
    return Buffer.from(plain.replaceAll(/\s/g, ''), 'hex');
  const [, channel, kind, first, second] = /^(\d+) ([a-z-]+) (\d+)(?: (\d+))?$/.exec(plain) ?? [];
  const status = Object.entries(names).find(([, name]) => name === kind)?.[0];
  if (status === undefined || Number(channel) < 1 || Number(channel) > 16)
    throw new Error(
      `expected a message such as "1 note 60 127", "1 control 7 100", "1 bend 8192", "start" or "F0 7F 01 F7", got "${plain}"`,
    );
  const number = Number(first);
  const data =
    kind === 'bend' ? [number & 0x7f, number >> 7] : [number, ...(second === undefined ? [] : [Number(second)])];
  return Uint8Array.of((Number(status) << 4) | (Number(channel) - 1), ...data);
}
