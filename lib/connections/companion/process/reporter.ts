// What a module reports to the hub: values, its status, and its log. Only the newest state of each value in the settings is reported, and
// only as fast as the hub reads, so that a module with 100,000 variables costs the hub no more than a module with ten.

import type { FromProcess, Start, Watched } from '../messages.ts';

/** How often changed values are reported, in milliseconds. Only the newest state of each value is reported. */
const reportEveryMs = 20;
/** The maximum number of a module's log entries that are reported per second. */
const logsPerSecond = 20;
/** The maximum length of a reported value, in characters. */
const maxValueLength = 16_384;
/** The number of bytes at which a line with values is full, and the maximum number of bytes of a single value in a line. */
const fullLineBytes = 32_768;
const maxValueBytes = 60_000;

/** The pipe to the hub. */
export interface Link {
  send(line: FromProcess): void;
  /** Whether the hub still has a lot to read. The newest values are then reported once the hub has read it. */
  isFull(): boolean;
}

export class Reporter {
  readonly #link: Link;
  readonly #byVariable = new Map<string, string[]>();
  readonly #changed = new Map<string, unknown>();
  readonly feedbacks: readonly (readonly [id: string, watched: Watched])[];
  #status: { readonly status: string; readonly message: string } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #logged = 0;
  #second = 0;

  constructor({ values }: Start, link: Link) {
    this.#link = link;
    const all = Object.entries(values);
    this.feedbacks = all.filter(([, { feedback }]) => feedback !== undefined);
    for (const [id, { variable }] of all)
      if (variable !== undefined) this.#byVariable.set(variable, [...(this.#byVariable.get(variable) ?? []), id]);
  }

  /** Reports a variable if a value in the settings follows it. */
  variable(variable: string, value: unknown): void {
    for (const id of this.#byVariable.get(variable) ?? []) this.value(id, value);
  }

  value(id: string, value: unknown): void {
    this.#changed.set(id, value);
    this.#reportSoon();
  }

  /** Reports the newest status. */
  status(status: unknown, message: unknown): void {
    this.#status = { status: String(status).slice(0, 100), message: String(message ?? '').slice(0, 500) };
    this.#reportSoon();
  }

  #reportSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#link.isFull()) this.#reportSoon();
      else this.#report();
    }, reportEveryMs);
  }

  #report(): void {
    if (this.#status !== undefined) this.#link.send(this.#status);
    this.#status = undefined;
    let values: [string, unknown][] = [];
    let bytes = 0;
    for (const [id, value] of this.#changed) {
      const bounded = boundedValue(value);
      const length = Buffer.byteLength(JSON.stringify([id, bounded]));
      if (bytes + length > fullLineBytes && values.length > 0) {
        this.#link.send({ values });
        [values, bytes] = [[], 0];
      }
      values.push([id, bounded]);
      bytes += length;
    }
    this.#changed.clear();
    if (values.length > 0) this.#link.send({ values });
  }

  log(level: unknown, message: unknown): void {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) {
      const dropped = this.#logged - logsPerSecond;
      if (dropped > 0)
        this.#link.send({ log: 'warn', text: `${dropped} more log entries within a second were dropped` });
      this.#logged = 0;
    }
    this.#second = second;
    if (++this.#logged > logsPerSecond) return;
    const known = (['debug', 'info', 'warn', 'error'] as const).find((one) => one === level);
    this.#link.send({ log: known ?? 'info', text: String(message).slice(0, 500) });
  }
}

/** Returns strings, numbers and booleans as they are, truncated if necessary, null for a missing value, and JSON for anything else. */
function boundedValue(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, maxValueLength);
  const isLong = text.length > maxValueBytes / 6 && Buffer.byteLength(JSON.stringify(text)) > maxValueBytes;
  return isLong ? text.slice(0, maxValueBytes / 6) : text; // a control character takes six bytes
}
