// Rates: the amounts by which counters grow per second, measured with the device's clock.

import type { SchedulerLike } from 'rxjs';
import { integerOf, tags, type Varbind } from './message.ts';
import { type Decoded, decodeValue, type Item } from './objects.ts';

interface Counted {
  readonly value: bigint;
  readonly atMs: number;
  readonly rate: number | undefined;
}

export class Rates {
  readonly #scheduler: SchedulerLike;
  readonly #counters = new Map<Item, Counted>();
  /** The device's uptime in its last answer, in hundredths of a second; undefined if the answer did not contain it. */
  #upTicks: number | undefined;

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
  }

  /** Forgets all counters, because the device is offline. */
  forget(): void {
    this.#counters.clear();
    this.#upTicks = undefined;
  }

  remove(item: Item): void {
    this.#counters.delete(item);
  }

  /** Returns when an answer was created, in milliseconds: by the device's clock if the answer contains the uptime. */
  timeOf(upTime: Varbind | undefined): number {
    const ticks = upTime?.tag === tags.ticks ? Number(integerOf(upTime)) : undefined;
    const isOther = (ticks === undefined) !== (this.#upTicks === undefined);
    // After the device has restarted, its counters have started again.
    if (isOther || (ticks !== undefined && ticks < this.#upTicks!)) this.#counters.clear();
    this.#upTicks = ticks;
    return ticks === undefined ? this.#scheduler.now() : ticks * 10;
  }

  /** Returns the rate of a counter at the time of an answer; the rate is unknown for the first answer. */
  rateOf(item: Item, varbind: Varbind, atMs: number): Decoded {
    const value = integerOf(varbind);
    if (value === undefined) {
      const { fault } = decodeValue(item, varbind);
      return { fault: fault ?? `expected a counter at ${varbind.oid}` };
    }
    const before = this.#counters.get(item);
    const seconds = before === undefined ? 0 : (atMs - before.atMs) / 1000;
    if (before !== undefined && seconds === 0) return { value: before.rate };
    let growth = value - (before?.value ?? value);
    if (growth < 0n && varbind.tag === tags.counter32) growth += 2n ** 32n;
    else if (growth < 0n && varbind.tag === tags.counter64) growth += 2n ** 64n;
    const { scale, offset } = item.settings;
    const rate = seconds > 0 ? Number(((Number(growth) / seconds) * scale + offset).toPrecision(12)) : undefined;
    this.#counters.set(item, { value, atMs, rate });
    return { value: rate };
  }
}
