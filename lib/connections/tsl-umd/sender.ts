// Sends displays to one destination. Changed displays are sent immediately. All displays are sent after each connect and at regular
// intervals, because UDP may lose packets and a display that has just been switched on shows nothing. After each packet, the sender pauses;
// a display that changes several times during the pause is sent once, with its latest values.

import { type SchedulerLike, Subscription } from 'rxjs';
import { DeviceLink } from '../../device/link.ts';
import type { Transport } from '../../device/transport.ts';
import { type Display, encodePacket, type Version } from './packet.ts';
import type { OwnDisplay } from './settings.ts';

export interface SenderOptions {
  readonly transport: Transport;
  readonly version: Version;
  readonly displays: readonly OwnDisplay[];
  readonly spacingMs: number;
  /** The interval at which all displays are sent again, in milliseconds; false means never. */
  readonly refreshMs: number | false;
  readonly connectTimeoutMs: number;
  readonly scheduler: SchedulerLike;
  /** Returns the latest values of a display, or undefined if no value has been written. */
  read(display: OwnDisplay): Display | undefined;
  random?(): number;
}

export interface SenderEvents {
  running(): void;
  away(reason: string): void;
  wire(bytes: Uint8Array): void;
}

/** The number of unsent bytes above which no further packets are sent to the destination. */
export const maxQueuedBytes = 65_536;
/** The maximum number of displays that are offered to the encoder for one packet. */
const displaysPerPacket = 256;
/** How long a destination that has refused UDP packets must accept them before it counts as running, in milliseconds. */
const proofMs = 2000;

export class Sender {
  readonly #options: SenderOptions;
  readonly #events: SenderEvents;
  readonly #link: DeviceLink;
  readonly #changed = new Set<OwnDisplay>();
  readonly #repeated = new Set<OwnDisplay>();
  #timers = new Subscription();
  #pause: Subscription | undefined;
  #hasFailed = false;

  constructor(options: SenderOptions, events: SenderEvents) {
    const { transport, connectTimeoutMs, scheduler, random } = options;
    this.#options = options;
    this.#events = events;
    this.#link = new DeviceLink(
      {
        ...{ transports: [transport], connectTimeoutMs, idleTimeoutMs: undefined, scheduler },
        ...(random && { random }),
      },
      {
        opened: () => this.#opened(),
        received: () => {}, // displays do not answer
        ended: (reason) => this.#ended(reason),
      },
    );
  }

  start(): void {
    this.#link.start();
  }

  stop(): Promise<void> {
    this.#timers.unsubscribe();
    this.#pause?.unsubscribe();
    return this.#link.stop();
  }

  /** Sends a display whose values have changed, immediately or after the current pause. */
  change(display: OwnDisplay): void {
    if (!this.#link.isOpen) return; // all displays are sent as soon as the link is open
    this.#repeated.delete(display);
    this.#changed.add(display);
    if (this.#pause === undefined) this.#send();
  }

  #opened(): void {
    this.#timers = new Subscription();
    const { transport, scheduler } = this.#options;
    const isRunning = () => {
      this.#hasFailed = false;
      this.#link.prove();
      this.#events.running();
    };
    if (this.#hasFailed && transport.keepsFrames) this.#timers.add(scheduler.schedule(isRunning, proofMs));
    else isRunning();
    this.#repeat();
  }

  #ended(reason: string): number {
    this.#hasFailed = true;
    this.#timers.unsubscribe();
    this.#pause?.unsubscribe();
    this.#pause = undefined;
    this.#changed.clear();
    this.#repeated.clear();
    this.#events.away(reason);
    return 0;
  }

  /** Sends all displays, immediately and then at regular intervals. */
  #repeat(): void {
    const { displays, refreshMs, scheduler } = this.#options;
    for (const display of displays) if (!this.#changed.has(display)) this.#repeated.add(display);
    if (this.#pause === undefined) this.#send();
    if (refreshMs === false) return;
    const next = scheduler.schedule(() => {
      this.#timers.remove(next);
      this.#repeat();
    }, refreshMs);
    this.#timers.add(next);
  }

  /** Sends one packet, in which changed displays come first, and schedules the next packet after the pause. */
  #send(): void {
    this.#pause = undefined;
    const { version, spacingMs, scheduler } = this.#options;
    while (this.#link.isOpen && this.#changed.size + this.#repeated.size > 0) {
      if (this.#link.unsentBytes <= maxQueuedBytes) {
        const displays = this.#take();
        if (displays.length === 0) continue;
        const { bytes, count } = encodePacket(
          version,
          displays.map(([, display]) => display),
        );
        for (const [own] of displays.slice(0, count)) {
          this.#changed.delete(own);
          this.#repeated.delete(own);
        }
        this.#events.wire(bytes);
        this.#link.send(bytes);
      }
      this.#pause = scheduler.schedule(() => this.#send(), spacingMs);
      return;
    }
  }

  /** Returns the displays for the next packet, without the displays that have no values yet. */
  #take(): (readonly [OwnDisplay, Display])[] {
    const { version, read } = this.#options;
    const taken: (readonly [OwnDisplay, Display])[] = [];
    const most = version === 5 ? displaysPerPacket : 1;
    for (const queue of [this.#changed, this.#repeated])
      for (const own of queue) {
        if (taken.length === most) return taken;
        const display = read(own);
        if (display === undefined) queue.delete(own);
        else taken.push([own, display]);
      }
    return taken;
  }
}
