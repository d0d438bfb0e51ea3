// What happens in the installation that is prepared: a studio whose microphone switches its red light, and levels that wander.

import type { Origin } from '../../../lib/model/parameter.ts';
import type { Value, ValueType } from '../../../lib/model/value.ts';
import { Random } from '../random.ts';

/** A change as it comes to be recorded; the cause is another one of the same list. */
export interface PreparedChange {
  readonly address: string;
  readonly type: ValueType;
  readonly time: number;
  readonly value: Value;
  readonly writer: Origin;
  readonly cause?: PreparedChange;
}

export const studio = 'studio-1';

/** The parameters of the studio as a Dummy has them. */
export const studioParameters = [
  'mic,B,false',
  'lamp,B,false',
  'level,F,-60',
  'temperature,F,21',
  'listeners,I,0',
  'message,S,',
  'bell,T',
] as const;

/** The rule that switches the lamp. */
export const lampRule = { name: 'red light', from: `${studio}/mic`, to: `${studio}/lamp` };

const desk: Origin = { kind: 'client', name: 'api 10.0.0.3' };
const phone: Origin = { kind: 'client', name: 'api 10.0.0.66' };
const meter: Origin = { kind: 'client', name: 'api 10.0.0.20' };
const keys: Origin = { kind: 'connection', name: 'keys' };
const rule: Origin = { kind: 'rule', name: lampRule.name, file: 'flow.json5' };
const names = ['Anna', 'Ben', '=Cleo', 'Dora "D" Dorn', 'Émile'];
const hourMs = 3_600_000;
const minuteMs = 60_000;

/** Somebody opens the microphone every night at this time, for three minutes. */
const nightly = { hour: 3, minute: 4, second: 10 };

/** All that happens in one hour which begins at `start`, oldest first, but for numbers. */
export function happenings(start: number, seed: number): PreparedChange[] {
  const random = new Random(seed, Math.floor(start / hourMs));
  const localHour = new Date(start).getHours();
  const changes: PreparedChange[] = [];
  const speak = (from: number, forMs: number, by: Origin) => {
    for (const [value, time] of [
      [true, from],
      [false, from + forMs],
    ] as const) {
      const mic: PreparedChange = { address: `${studio}/mic`, type: 'B', time, value, writer: by };
      changes.push(mic, { address: `${studio}/lamp`, type: 'B', time, value, writer: rule, cause: mic });
    }
    const message = `${random.pick(names)} is on air`;
    changes.push({ address: `${studio}/message`, type: 'S', time: from + 500, value: message, writer: by });
  };
  const isDay = localHour >= 7 && localHour < 23;
  if (localHour === nightly.hour) {
    const at = new Date(start).setHours(nightly.hour, nightly.minute, nightly.second, 0);
    if (at >= start && at + 3 * minuteMs < start + hourMs) speak(at, 3 * minuteMs, phone);
  } else if (isDay)
    for (let quarter = 0; quarter < 4; quarter++)
      speak(
        start + quarter * 15 * minuteMs + random.below(5 * minuteMs),
        minuteMs + random.below(8 * minuteMs),
        random.pick([desk, keys]),
      );
  for (let rings = random.below(isDay ? 6 : 1); rings > 0; rings--)
    changes.push({
      address: `${studio}/bell`,
      type: 'T',
      time: start + random.below(hourMs),
      value: 1,
      writer: keys,
    });
  return changes.sort((a, b) => a.time - b.time);
}

/** A number that wanders, from change to change. */
class Wandering {
  readonly address: string;
  readonly type: ValueType;
  readonly writer = meter;
  readonly #random: Random;
  readonly #least: number;
  readonly #most: number;
  readonly #step: number;
  readonly #perUnit: number;
  #value: number;

  constructor(
    address: string,
    type: 'F' | 'I',
    [least, most, step]: readonly [number, number, number],
    random: Random,
  ) {
    this.address = address;
    this.type = type;
    this.#random = random;
    this.#least = least;
    this.#most = most;
    this.#step = step;
    this.#perUnit = type === 'I' ? 1 : 100;
    this.#value = Math.round((least + most) / 2);
  }

  /** The next value; it is another one than before. */
  next(): number {
    for (;;) {
      const moved = this.#value + (this.#random.below(2001) / 1000 - 1) * this.#step;
      const value = Math.round(Math.min(this.#most, Math.max(this.#least, moved)) * this.#perUnit) / this.#perUnit;
      if (value === this.#value) continue;
      this.#value = value;
      return value;
    }
  }
}

/** The numbers of an installation of so many parameters. */
export function numbersOf(parameters: number, seed: number): Wandering[] {
  const levels = Array.from({ length: Math.max(0, parameters - studioParameters.length) }, (_, index) => index + 1);
  const random = (index: number) => new Random(seed, -1 - index);
  return [
    new Wandering(`${studio}/level`, 'F', [-60, 0, 3], random(-1)),
    new Wandering(`${studio}/temperature`, 'F', [18, 27, 0.1], random(-2)),
    new Wandering(`${studio}/listeners`, 'I', [0, 5000, 20], random(-3)),
    ...levels.map((n) => new Wandering(`levels/${n}`, 'F', [0, 100, 2], random(n))),
  ];
}
