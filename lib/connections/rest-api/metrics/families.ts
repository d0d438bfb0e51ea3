// Families of metrics whose values are read when somebody asks.

import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
import { type Durations, durationBounds } from '../../../model/time/durations.ts';

/** One value for each label: `[['ok', 5], ['read-only', 1]]`. */
export type Labelled = Iterable<readonly [label: string, value: number]>;

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
