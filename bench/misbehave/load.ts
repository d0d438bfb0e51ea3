// The load beside a flow that misbehaves: a neighbour whose every change must come back in order, and the changes that the flow
// itself hears.

import { setTimeout as after } from 'node:timers/promises';
import { within } from '../load/deadline.ts';
import { step } from './flow.ts';

/** How often the flow itself hears a change. */
const ownEveryMs = 5;
const tickMs = 2;
const deadlineMs = 60_000;

interface Awaited {
  readonly plus: number;
  readonly resolve: () => void;
}

export class Load {
  readonly #neighbour: WebSocket;
  readonly #flow: WebSocket;
  readonly #changesPerSecond: number;
  readonly #startedMs = performance.now();
  #timer: NodeJS.Timeout;
  #sent = 0;
  #heard = 0;
  #own = 0;
  #heardAtMs = performance.now();
  #longestGapMs = 0;
  #awaited: Awaited | undefined;
  #mistake: string | undefined;

  /** Opens it, a client of the neighbour and one of the flow, on a port each; it writes from then on. */
  static async open([neighbour = 0, flow = 0]: readonly number[], changesPerSecond: number): Promise<Load> {
    return new Load(await openSocket(neighbour), await openSocket(flow), changesPerSecond);
  }

  private constructor(neighbour: WebSocket, flow: WebSocket, changesPerSecond: number) {
    this.#neighbour = neighbour;
    this.#flow = flow;
    this.#changesPerSecond = changesPerSecond;
    neighbour.addEventListener('message', ({ data }) => this.#hear(valueIn(data)));
    flow.addEventListener('message', ({ data }) => this.#hearFlow(valueIn(data)));
    this.#timer = setInterval(() => this.#send(), tickMs);
  }

  /** How many changes the neighbour has heard. */
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
    return within(deadlineMs, 'the saved flow to take effect', added);
  }

  /** Resolves once all that the neighbour was sent by now has come back. Errors: when something is lost or out of order. */
  async settle(): Promise<void> {
    const sent = this.#sent;
    const endMs = performance.now() + deadlineMs;
    while (this.#heard < sent && this.#mistake === undefined && performance.now() < endMs) await after(tickMs);
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
    while (this.#sent < due) write(this.#neighbour, 'desk/in', ++this.#sent);
    if (this.#own * ownEveryMs < elapsedMs) write(this.#flow, 'desk/x', ++this.#own % step);
  }

  #hear(value: number): void {
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

async function openSocket(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
  const opened = new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('the WebSocket was refused')));
  });
  await within(deadlineMs, 'a WebSocket', opened);
  return socket;
}

function write(socket: WebSocket, p: string, v: number): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ p, v }));
}

function valueIn(data: unknown): number {
  return Number((JSON.parse(data as string) as { v: string }).v);
}
