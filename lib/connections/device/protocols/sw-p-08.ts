// The SW-P-08 link layer (Pro-Bel, "General Switcher Communication Protocol"). A frame consists of DLE STX, DATA, byte count, checksum and
// DLE ETX. The receiver acknowledges a frame with DLE ACK or refuses it with DLE NAK. The sender repeats a frame, at most five times, until
// the receiver acknowledges it.

import { type SchedulerLike, Subscription } from 'rxjs';

/** The link layer of a protocol, which acknowledges and retransmits frames. */
export interface LinkCodec {
  /** Handles a received frame. Returns the message in the frame, or undefined if it contains no message. */
  received(frame: Buffer): Buffer | undefined;
  /** Sends a message in a frame. */
  send(message: Buffer): void;
  /** Resets the state after a link has been opened. */
  reset(): void;
}

export interface CodecPort {
  /** Sends the content of a frame. The caller of the codec adds the marks. */
  send(frame: Buffer): void;
  sendRaw(bytes: Uint8Array): void;
  fail(reason: string): void;
  readonly scheduler: SchedulerLike;
}

const [dle, ack, nak] = [0x10, 0x06, 0x15];
/** The maximum length of DATA in a frame, in bytes. */
const maxDataBytes = 128;
const acknowledgeMs = 1000;
const maxTries = 5;
/** The maximum number of messages that are waiting for the acknowledgement of earlier messages. */
const maxWaiting = 4096;

export function createSwP08({ send, sendRaw, fail, scheduler }: CodecPort): LinkCodec {
  let waiting: Buffer[] = [];
  let tries = 0;
  let timer = new Subscription();

  const transmit = () => {
    const [message] = waiting;
    if (message === undefined) return;
    if (++tries > maxTries) {
      fail(`the device has not acknowledged a message that was sent ${maxTries} times`);
      return;
    }
    send(Buffer.concat([message, Buffer.from([message.length, checksumOf(message)])]));
    timer.unsubscribe();
    timer = new Subscription();
    timer.add(scheduler.schedule(transmit, acknowledgeMs));
  };

  return {
    reset() {
      timer.unsubscribe();
      waiting = [];
      tries = 0;
    },
    send(message) {
      if (waiting.length >= maxWaiting) fail(`more than ${maxWaiting} messages are waiting for an acknowledgement`);
      else if (waiting.push(message) === 1) {
        tries = 0;
        transmit();
      }
    },
    received(frame) {
      if (frame.length === 2 && frame[0] === dle && (frame[1] === ack || frame[1] === nak)) {
        if (waiting.length === 0) return undefined;
        if (frame[1] === ack) {
          timer.unsubscribe();
          waiting.shift();
          tries = 0;
        }
        transmit();
        return undefined;
      }
      const data = frame.subarray(0, -2);
      const isWhole =
        data.length >= 1 &&
        data.length <= maxDataBytes &&
        frame.at(-2) === data.length &&
        frame.at(-1) === checksumOf(data);
      sendRaw(Buffer.from([dle, isWhole ? ack : nak]));
      return isWhole ? data : undefined;
    },
  };
}

/** Returns the checksum: the two's complement of the sum of DATA and the byte count. */
function checksumOf(data: Buffer): number {
  let sum = data.length;
  for (const byte of data) sum += byte;
  return -sum & 0xff;
}
