// A dashboard: a socket of patchbay.v1 with the delivery `latest`, and what it shows.

import type { Histogram } from './histogram.ts';
import { connectionId } from './many-parameters.ts';
import type { PictureReader } from './picture.ts';
import { openV1Socket, type V1Socket } from './v1-socket.ts';

export interface DashboardSettings {
  readonly parameters: number;
  readonly rate: number;
  /** Receives the age of each value on arrival; values are the times of their writes. */
  readonly arrival: Histogram;
  nowMs(): number;
}

export class Dashboard {
  bytes = 0;
  readonly #reader: PictureReader;
  readonly #settings: DashboardSettings;
  /** The newest value of each parameter that came, 0: none. */
  readonly #picture: Float64Array;
  #socket: V1Socket | undefined;
  #next = 0;
  #isStalled = false;

  /** Opens a dashboard of all parameters; resolves once it has all values. `onEnd` receives errors and its end. */
  static async open(
    port: number,
    reader: PictureReader,
    settings: DashboardSettings,
    onEnd: (reason: string) => void,
  ): Promise<Dashboard> {
    const { promise: complete, resolve } = Promise.withResolvers<void>();
    const dashboard = new Dashboard(reader, settings);
    const socket = await openV1Socket(port, (payload) => dashboard.#take(payload, resolve), onEnd);
    dashboard.#socket = socket;
    socket.send({ sub: 1, include: [`${connectionId}/**`], rate: settings.rate, delivery: 'latest' });
    await complete;
    return dashboard;
  }

  private constructor(reader: PictureReader, settings: DashboardSettings) {
    this.#reader = reader;
    this.#settings = settings;
    this.#picture = new Float64Array(settings.parameters);
  }

  /** Stops reading. What it reads afterwards is late by its own fault, and no longer counted. */
  pause(): void {
    this.#isStalled = true;
    this.#socket!.socket.pause();
  }

  resume(): void {
    this.#socket!.socket.resume();
  }

  /** Closes it silently. */
  end(): void {
    this.#socket!.socket.destroy();
  }

  /** Records the age of every value that it shows. */
  sample(shown: Histogram): void {
    const now = this.#settings.nowMs();
    for (const value of this.#picture) shown.add(now - value);
  }

  /** Describes how it differs from these values; undefined if it shows exactly these. */
  differenceTo(values: Float64Array): string | undefined {
    const parameter = this.#picture.findIndex((value, index) => value !== values[index]);
    return parameter < 0
      ? undefined
      : `shows ${this.#picture[parameter]} for parameter ${parameter}, expected ${values[parameter]}`;
  }

  #take(payload: Buffer, complete: () => void): void {
    this.bytes += payload.length;
    const place = this.#reader.cache.find(payload, this.#next);
    this.#next = place + 1;
    const { parameters, values, end } = this.#reader.cache.parsedAt(place);
    const now = this.#settings.nowMs();
    for (let index = 0; index < values.length; index++) {
      const parameter = parameters[index]!;
      const value = values[index]!;
      if (value < this.#picture[parameter]!)
        throw new Error(`expected newer values only, got ${value} after ${this.#picture[parameter]}`);
      this.#picture[parameter] = value;
      if (!this.#isStalled) this.#settings.arrival.add(now - value);
    }
    if (end === 1) complete();
  }
}
