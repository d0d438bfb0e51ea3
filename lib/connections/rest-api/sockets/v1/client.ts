// A socket of patchbay.v1 as the hub sees it: what it subscribed to, and how far it has been sent to it. A client is either
// live, and hears what its view flushes, or behind, and is caught up.

import type { Origin } from '../../../../model/parameter.ts';
import type { Channel } from '../channel.ts';
import type { Socket } from '../session.ts';
import { Tally } from '../tally.ts';
import type { View } from './group/group.ts';
import type { CatchUp } from './members/catch-up.ts';
import type { Segment } from './members/losses.ts';
import type { StallWatch } from './stall-watch.ts';
import type { Subscription } from './subscription.ts';

/** A socket with more than this unread in the hub is full: it is sent nothing more until it reads. */
const maxUnreadBytes = 8 * 1024;

// Most clients never miss anything: what they would need then is made when they do.
const nothingMissed: ReadonlyMap<Channel, number> = new Map();
const nothingUnsent: readonly string[] = [];

export class Client {
  readonly origin: Origin;
  /** Where it comes from, as the log names it. */
  readonly address: string;
  socket!: Socket;
  subscriptions: readonly Subscription[] = [];
  view: View | undefined = undefined;
  /** Its place among the live clients of its view; -1: it is behind. */
  place = -1;
  /** While it is behind: everything up to this revision has been sent. */
  seen = 0;
  /** What waits in its view with a revision up to this one is not for it. */
  joinedAt = 0;
  /** Sends it pictures that it lacks; undefined: it lacks none. */
  catchUp: CatchUp | undefined = undefined;
  /** Counts what it misses while it is behind; `missesOnlyFires`: the rest it is sent by its catch-up. */
  segment: Segment | undefined = undefined;
  missesOnlyFires = true;
  /** Frames about parameters that came and went, for which it had no room. */
  unsent = nothingUnsent;
  /** Definitions of parameters that did not change after this revision were not sent to it, of triggers the other; -1: all were. */
  definedAfter = -1;
  firesDefinedAfter = -1;
  /** When it was found full, in milliseconds of a monotonic clock; undefined: it is not. */
  fullSinceMs: number | undefined = undefined;
  isClosed = false;
  /** Since when it is behind, in the same clock; undefined: it is live, or has no subscription. */
  behindSinceMs: number | undefined = undefined;
  readonly sent = new Tally();
  received = 0;
  #missed: Map<Channel, number> | undefined = undefined;
  readonly #stalls: StallWatch;

  constructor(origin: Origin, address: string, stalls: StallWatch) {
    this.origin = origin;
    this.address = address;
    this.#stalls = stalls;
  }

  /** What it has missed and was not told, counted for it alone. Bounded by its view, which gives up whoever holds most. */
  get missed(): ReadonlyMap<Channel, number> {
    return this.#missed ?? nothingMissed;
  }

  /** Counts changes that it has missed. */
  miss(channel: Channel, count: number): void {
    this.#missed ??= new Map();
    this.#missed.set(channel, count);
  }

  /** Forgets what it has missed, of one parameter or of all. */
  forgive(channel?: Channel): void {
    if (channel !== undefined) this.#missed?.delete(channel);
    if (channel === undefined || this.#missed?.size === 0) this.#missed = undefined;
  }

  get isFull(): boolean {
    return this.fullSinceMs !== undefined;
  }

  send(frame: string | Uint8Array): void {
    this.sent.add(typeof frame === 'string' ? Buffer.byteLength(frame) : frame.length);
    if (this.socket.send(frame, false, false) !== 1) this.#look();
  }

  /** Sends frames in one piece. */
  sendAll(frames: readonly Uint8Array[]): void {
    if (frames.length === 1) {
      this.send(frames[0]!);
      return;
    }
    this.socket.cork(() => {
      for (const frame of frames) {
        this.socket.send(frame, false, false);
        this.sent.add(frame.length);
      }
    });
    this.#look();
  }

  /** Closes the socket; the server cuts it when the close frame is not taken. */
  end(code: number, reason: string): void {
    if (!this.isClosed) this.socket.end(code, reason);
  }

  /** Whether the socket has room again. */
  hasDrained(): boolean {
    if (this.socket.getBufferedAmount() > maxUnreadBytes / 2) {
      this.fullSinceMs = performance.now(); // it reads, if slowly
      return false;
    }
    this.fullSinceMs = undefined;
    return true;
  }

  #look(): void {
    if (this.isFull || this.socket.getBufferedAmount() <= maxUnreadBytes) return;
    this.fullSinceMs = performance.now();
    this.#stalls.add(this);
  }
}
