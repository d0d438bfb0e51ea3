// The values behind MIDI messages. When a hand moves a control, the hub does not send the same value back. While a hand touches the
// control, the hub sends nothing to it, and afterwards only the newest value. When a device comes back online, the hub sends all values
// that it has.

import type { SchedulerLike, Subscription } from 'rxjs';
import { createFramer, type Framer } from '../../device/frames.ts';
import type { Value } from '../../model/value.ts';
import { keyOf, Listener, lengthRules, matchesSysex, messagesFor } from './messages.ts';
import { type Item, type MidiSettings, maxSysexBytes, numberOf, readHex, valueAt } from './settings.ts';

/** The maximum number of triggers that are waiting to be sent. */
export const maxTriggers = 1000;
/** The pause between two batches of sent messages, in milliseconds. */
const partEveryMs = 10;

export interface SessionEvents {
  set(item: Item, value: Value): void;
  turn(work: () => void): void;
  send(bytes: Uint8Array): void;
  wire(direction: 'in' | 'out', bytes: Uint8Array, fault?: string): void;
  lost(reason: string): void;
}

interface Motor {
  /** The number that the device has, as far as the hub knows. */
  known: number | undefined;
  heardMs: number;
  sentMs: number;
  isTouched: boolean;
}

export class MidiSession {
  readonly #settings: MidiSettings;
  readonly #scheduler: SchedulerLike;
  readonly #events: SessionEvents;
  readonly #byKey = new Map<string, Item[]>();
  readonly #byTouch = new Map<string, Item[]>();
  readonly #sysex: Item[] = [];
  readonly #motors = new Map<Item, Motor>();
  /** The items whose newest value is waiting to be sent. */
  readonly #waiting = new Map<Item, Value>();
  #triggers: Item[] = [];
  #framer: Framer;
  #listener = new Listener();
  #dropped = 0;
  #isOpen = false;
  #timer: Subscription | undefined;
  /** How many messages may be sent now. */
  #credit: number;
  #creditMs = 0;

  constructor(settings: MidiSettings, items: readonly Item[], scheduler: SchedulerLike, events: SessionEvents) {
    this.#settings = settings;
    this.#scheduler = scheduler;
    this.#events = events;
    this.#credit = settings.rate / 10;
    this.#framer = this.#createFramer();
    const add = (map: Map<string, Item[]>, key: string, item: Item) => {
      const list = map.get(key);
      if (list === undefined) map.set(key, [item]);
      else list.push(item);
    };
    for (const item of items) {
      if (item.isOut)
        this.#motors.set(item, {
          known: undefined,
          heardMs: Number.NEGATIVE_INFINITY,
          sentMs: Number.NEGATIVE_INFINITY,
          isTouched: false,
        });
      if (item.touch !== undefined && item.touch.kind !== 'sysex') add(this.#byTouch, keyOf(item.touch), item);
      if (!item.isIn) continue;
      const { control } = item;
      if (control.kind === 'sysex') this.#sysex.push(item);
      else add(this.#byKey, keyOf(control), item);
    }
  }

  /** Called when the device is online. Sends all values that the hub knows. */
  opened(valueOfItem: (item: Item) => Value | undefined): void {
    this.#framer = this.#createFramer();
    this.#dropped = 0;
    this.#listener = new Listener();
    this.#isOpen = true;
    for (const [item, motor] of this.#motors) {
      Object.assign(motor, { known: undefined, isTouched: false, heardMs: Number.NEGATIVE_INFINITY });
      const value = item.type === 'T' ? undefined : valueOfItem(item);
      if (value !== undefined) this.#waiting.set(item, value);
    }
    this.#send();
  }

  closed(): void {
    this.#isOpen = false;
    this.#timer?.unsubscribe();
    this.#timer = undefined;
    this.#waiting.clear();
    if (this.#triggers.length > 0)
      this.#events.lost(`${this.#triggers.length} triggers were dropped: the device is offline`);
    this.#triggers = [];
  }

  /** Takes a value that a client, a rule or another connection has written. */
  write(item: Item, value: Value): void {
    if (item.type !== 'T') {
      if (this.#isOpen) this.#waiting.set(item, value); // otherwise, it is sent when the device is online
    } else if (!this.#isOpen) this.#events.lost('a trigger was dropped: the device is offline');
    else if (this.#triggers.length >= maxTriggers)
      this.#events.lost(`a trigger was dropped: ${maxTriggers} triggers are already waiting`);
    else this.#triggers.push(item);
    if (this.#isOpen) this.#send();
  }

  // Messages from the device

  #createFramer(): Framer {
    return createFramer({ kind: 'lengthBy', at: 0, rules: lengthRules, isRunning: true }, maxSysexBytes);
  }

  received(bytes: Uint8Array): void {
    const frames = this.#framer.push(bytes);
    const { droppedBytes } = this.#framer;
    if (droppedBytes > this.#dropped) {
      this.#events.wire(
        'in',
        bytes.subarray(0, 64),
        `${droppedBytes - this.#dropped} bytes do not belong to a message`,
      );
      this.#dropped = droppedBytes;
    }
    const values = new Map<Item, Value>();
    const fired: Item[] = [];
    for (const frame of frames) this.#hear(frame.toBuffer(), values, fired);
    if (values.size + fired.length === 0) return;
    this.#events.turn(() => {
      for (const [item, value] of values) this.#events.set(item, value);
      for (const item of fired) this.#events.set(item, 1);
    });
  }

  #hear(frame: Buffer, values: Map<Item, Value>, fired: Item[]): void {
    if (frame[0] === 0xf0) {
      this.#events.wire('in', frame);
      for (const item of this.#sysex) {
        const { pattern } = item.control as { pattern: string | undefined };
        if (pattern === undefined) values.set(item, frame.toString('hex').toUpperCase());
        else if (matchesSysex(pattern, frame)) fired.push(item);
      }
      return;
    }
    const heard = this.#listener.read(frame);
    const isHeard = heard.some(({ key }) => this.#byKey.has(key));
    if (frame[0]! < 0xf8 || isHeard) this.#events.wire('in', frame); // clock and active sensing would hide all other messages
    for (const { key, number } of heard) {
      for (const item of this.#byTouch.get(key) ?? []) this.#touched(item, number > 0);
      for (const item of this.#byKey.get(key) ?? []) {
        const motor = this.#motors.get(item);
        if (item.type === 'T') {
          if (number > 0) fired.push(item);
          continue;
        }
        const now = this.#scheduler.now();
        if (motor !== undefined) {
          if (now - motor.sentMs < this.#settings.quiet && !motor.isTouched) continue; // its motor is moving
          motor.heardMs = now;
          motor.known = number;
          this.#waiting.delete(item); // the hand's value is newer
        }
        values.set(item, valueAt(item, number));
      }
    }
  }

  #touched(item: Item, isTouched: boolean): void {
    const motor = this.#motors.get(item);
    if (motor === undefined) return;
    motor.isTouched = isTouched;
    if (!isTouched) this.#send();
  }

  // Messages to the device

  #send(): void {
    if (!this.#isOpen) return;
    this.#timer?.unsubscribe();
    this.#timer = undefined;
    const { rate, hold } = this.#settings;
    const now = this.#scheduler.now();
    this.#credit = Math.min(rate / 10 + 1, this.#credit + ((now - this.#creditMs) / 1000) * rate);
    this.#creditMs = now;
    let isLater = false;
    while (this.#triggers.length > 0 && this.#credit >= 1) {
      const item = this.#triggers.shift()!;
      this.#write(messagesFor(item.control, numberOf(item, 1)));
    }
    for (const [item, value] of this.#waiting) {
      if (this.#credit < 1) break;
      const motor = this.#motors.get(item)!;
      if (motor.isTouched) continue; // sent when the hand lets go
      if (item.isIn && now - motor.heardMs < hold) {
        isLater = true;
        continue;
      }
      this.#waiting.delete(item);
      if (item.type === 'S') {
        this.#write([readHex(String(value))!]);
        continue;
      }
      const number = numberOf(item, value);
      if (motor.known === number) continue; // the device already has this number
      motor.known = number;
      motor.sentMs = now;
      this.#write(messagesFor(item.control, number));
    }
    if (isLater || this.#triggers.length > 0 || this.#credit < 1)
      this.#timer = this.#scheduler.schedule(() => this.#send(), partEveryMs);
  }

  #write(messages: readonly Uint8Array[]): void {
    for (const message of messages) {
      this.#credit--;
      this.#events.wire('out', message);
      this.#events.send(message);
    }
  }
}
