// The load beside a misbehaving flow: a client that must get back each of its changes in order, and the changes that the flow itself
// receives.

import { becomesSo, within } from '../../support/deadline.ts';
import { FrameReader } from '../../support/load/frame-reader.ts';
import { encodeClientFrame, encodeClientText, opcodes, openWebSocket } from '../../support/load/web-socket.ts';
import { step } from './flow.ts';

/** How often the flow itself receives a change. */
const ownEveryMs = 5;
const tickMs = 2;
const deadlineMs = 60_000;

interface Awaited {
  readonly plus: number;
  readonly resolve: () => void;
}

export class Load {
  readonly #changesPerSecond: number;
  readonly #startedMs = performance.now();
  #neighbour!: Client;
  #flow!: Client;
  #timer: NodeJS.Timeout | undefined;
  #sent = 0;
  #heard = 0;
  #own = 0;
  #heardAtMs = performance.now();
  #longestGapMs = 0;
  #awaited: Awaited | undefined;
  #mistake: string | undefined;

  /** Opens it, a client of the neighbour and one of the flow, on a port each; it writes from then on. */
  static async open([neighbour = 0, flow = 0]: readonly number[], changesPerSecond: number): Promise<Load> {
    const load = new Load(changesPerSecond);
    load.#neighbour = await openClient(neighbour, (value) => load.#listen(value));
    load.#flow = await openClient(flow, (value) => load.#hearFlow(value));
    load.#timer = setInterval(() => load.#send(), tickMs);
    return load;
  }

  private constructor(changesPerSecond: number) {
    this.#changesPerSecond = changesPerSecond;
  }

  /** The number of changes the neighbour has received. */
  get heard(): number {
    return this.#heard;
  }

  /** The longest time without a change of the neighbour since this was asked last. */
  takeLongestGap(): number {
    const gapMs = this.#longestGapMs;
    this.#longestGapMs = 0;
    return gapMs;
  }

  /** Resolves once desk/y says that the flow adds so much. */
  adds(plus: number): Promise<void> {
    const added = new Promise<void>((resolve) => {
      this.#awaited = { plus, resolve };
    });
    return within(added, 'the saved flow to take effect', deadlineMs);
  }

  /** Resolves once all that the neighbour was sent by now has come back. Errors: when something is lost or out of order. */
  async settle(): Promise<void> {
    const sent = this.#sent;
    const isOver = () => this.#heard >= sent || this.#mistake !== undefined;
    await becomesSo(isOver, { deadlineMs, everyMs: tickMs });
    if (this.#mistake !== undefined) throw new Error(this.#mistake);
    if (this.#heard < sent) throw new Error(`the neighbour: expected ${sent} changes, heard ${this.#heard}`);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#neighbour.close();
    this.#flow.close();
  }

  #send(): void {
    const elapsedMs = performance.now() - this.#startedMs;
    const due = Math.floor((elapsedMs / 1000) * this.#changesPerSecond);
    while (this.#sent < due) this.#neighbour.write('desk/in', ++this.#sent);
    if (this.#own * ownEveryMs < elapsedMs) this.#flow.write('desk/x', ++this.#own % step);
  }

  #listen(value: number): void {
    if (value !== this.#heard + 1) this.#mistake ??= `the neighbour: expected ${this.#heard + 1}, heard ${value}`;
    this.#heard = value;
    const nowMs = performance.now();
    this.#longestGapMs = Math.max(this.#longestGapMs, nowMs - this.#heardAtMs);
    this.#heardAtMs = nowMs;
  }

  #hearFlow(value: number): void {
    if (Math.floor(value / step) * step === this.#awaited?.plus) this.#awaited.resolve();
  }
}

interface Client {
  write(address: string, value: number): void;
  close(): void;
}

/** Opens a client that hears one parameter; it reads frames by hand, so that 131,072 values at once take the hub's time and not its own. */
async function openClient(port: number, hear: (value: number) => void): Promise<Client> {
  const frames = new FrameReader((payload, opcode) => {
    if (opcode === opcodes.ping) socket.write(encodeClientFrame(payload, opcodes.pong));
    else hear(valueIn(payload.toString('latin1')));
  });
  const opening = openWebSocket(port, '/ws', {
    onBytes: (chunk, length) => frames.read(chunk, length),
    onClose: () => {},
  });
  const socket = await within(opening, 'a WebSocket', deadlineMs);
  return {
    write: (p, v) => void (socket.writable && socket.write(encodeClientText(JSON.stringify({ p, v })))),
    close: () => void socket.destroy(),
  };
}

function valueIn(message: string): number {
  return Number((JSON.parse(message) as { v: string }).v);
}
