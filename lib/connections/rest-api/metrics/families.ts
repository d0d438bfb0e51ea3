// Families of metrics whose values are read when somebody asks.

import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
import { type Durations, durationBounds } from '../../../model/time/duration.ts';

/** One value for each label: `[['ok', 5], ['read-only', 1]]`. */
export type Labelled = Iterable<readonly [label: string, value: number]>;

export interface FamiliesByLabel<One> {
  gauges(name: string, help: string, read: (one: One) => number): void;
  counters(name: string, help: string, read: (one: One) => number): void;
}

export class Families {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** A count that only grows while the hub runs. */
  counter(name: string, help: string, read: () => number): void {
    new Counter({
      ...{ name, help, registers: [this.#registry] },
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  counters(name: string, help: string, label: string, read: () => Labelled): void {
    new Counter({
      ...{ name, help, registers: [this.#registry], labelNames: [label] },
      collect() {
        this.reset();
        for (const [text, value] of read()) this.inc({ [label]: text }, value);
      },
    });
  }

  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      ...{ name, help, registers: [this.#registry] },
      collect() {
        this.set(read());
      },
    });
  }

  gauges(name: string, help: string, label: string, read: () => Labelled): void {
    new Gauge({
      ...{ name, help, registers: [this.#registry], labelNames: [label] },
      collect() {
        this.reset();
        for (const [text, value] of read()) this.set({ [label]: text }, value);
      },
    });
  }

  /** Families of what there is several of, such as hubs: each has a value for each of them, by its label. */
  by<One>(label: string, all: () => Iterable<readonly [label: string, one: One]>): FamiliesByLabel<One> {
    const ofEach = (read: (one: One) => number) =>
      function* (): Generator<readonly [string, number]> {
        for (const [text, one] of all()) yield [text, read(one)];
      };
    return {
      gauges: (name, help, read) => this.gauges(name, help, label, ofEach(read)),
      counters: (name, help, read) => this.counters(name, help, label, ofEach(read)),
    };
  }

  /**
   * The library's histograms count for themselves, but the hub counts already. So it is told what one of them would tell; undefined:
   * there is nothing at the moment that it could tell.
   */
  histogram(name: string, help: string, read: () => Durations | undefined): void {
    const metric = { name, get: async () => ({ name, help, type: 'histogram', values: valuesOf(name, read()) }) };
    this.#registry.registerMetric(metric as unknown as Metric);
  }
}

function valuesOf(name: string, durations: Durations | undefined) {
  if (durations === undefined) return [];
  const { counts, sum } = durations;
  let count = 0;
  const buckets = counts.map((inBucket, index) => {
    count += inBucket;
    return { metricName: `${name}_bucket`, labels: { le: durationBounds[index] ?? '+Inf' }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, value: sum },
    { metricName: `${name}_count`, labels: {}, value: count },
  ];
}
