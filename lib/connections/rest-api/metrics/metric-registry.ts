// The metrics of a hub, under Prometheus names. No label names a parameter, a rule or a client, so the number of series does not depend on
// the number of parameters. Values are read at each scrape.
import { statSync } from 'node:fs';
import { cpuUsage, memoryUsage, uptime, versions } from 'node:process';
import { Counter, Gauge, type Metric, Registry } from 'prom-client';
import { held } from '../../../model/held-bytes.ts';
import type { DeviceStatus, WireTotals } from '../../../model/reports/connection-status.ts';
import { Durations, durationBounds } from '../../../model/time/duration.ts';
import type { HubPort } from '../../hub-port.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import type { WriteCounts } from '../limits/rates.ts';
import type { Sockets } from '../sockets/sockets.ts';

export interface MetricsContext {
  readonly hub: HubPort;
  readonly sockets: Sockets;
  readonly writes: WriteCounts;
  readonly hits: LimitHits;
}

const connectionStates = ['running', 'degraded', 'failed', 'disabled'] as const;
const hookResults = ['accepted', 'repeated', 'refused'] as const;
const messageResults = ['delivered', 'failed', 'dropped'] as const;
const storeParts = ['values', 'history', 'audit'] as const;

export function createMetrics(context: MetricsContext): Registry {
  const registry = new Registry();
  const families = new Families(registry);
  addBuild(registry, context.hub);
  addChanges(families, context);
  addRules(families, context.hub);
  addConnections(registry, context.hub);
  addDevices(registry, context.hub);
  addDeviceStates(registry, context.hub);
  addMessages(families, registry, context.hub);
  addClients(families, context);
  addHeld(families);
  addStore(families, context.hub);
  addDomain(families, context.hub);
  addProgram(families);
  return registry;
}

function addBuild(registry: Registry, { version }: HubPort): void {
  const help = 'The version of the hub and of its Node.js; always 1.';
  const info = { name: 'patchbay_build_info', help, labelNames: ['version', 'node'], registers: [registry] };
  new Gauge(info).set({ version, node: versions.node }, 1);
}

function addChanges(families: Families, { hub, sockets, writes }: MetricsContext): void {
  families.gauge('patchbay_parameters', 'Number of parameters.', () => hub.size);
  families.counters('patchbay_changes_total', 'Changes of parameters, by origin.', 'origin', () =>
    Object.entries(sockets.fanOut.changes),
  );
  families.counters('patchbay_writes_total', 'Writes by clients, by result: ok, or an error code.', 'result', () => [
    ['ok', writes.taken] as const,
    ...writes.refused,
  ]);
  const turns =
    'Duration of a write, including everything that it causes; sampled from one turn in 64, at most one per millisecond.';
  families.histogram('patchbay_turn_duration_seconds', turns, () => hub.turnDurations);
}

function addRules(families: Families, { ruleTotals }: HubPort): void {
  families.counter('patchbay_rule_errors_total', 'Values on which a rule failed.', () => ruleTotals.faults);
  families.counter(
    'patchbay_rule_dropped_total',
    'Values and writes of rules that a limit dropped.',
    () => ruleTotals.dropped,
  );
}

function addConnections(registry: Registry, hub: HubPort): void {
  new Gauge({
    name: 'patchbay_connection_state',
    help: '1 for the current state of a connection, 0 for all others.',
    labelNames: ['id', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { id, state: present } of hub.connections())
        for (const state of connectionStates) this.set({ id, state }, state === present ? 1 : 0);
    },
  });
}

function addDevices(registry: Registry, hub: HubPort): void {
  const frames = 'Frames that connections to devices have sent and received.';
  const bytes = 'Bytes of these frames.';
  new Counter({
    name: 'patchbay_device_refused_total',
    help: 'Frames of devices, or messages in them, that were malformed or beyond a limit.',
    labelNames: ['id'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { id, wire } of hub.connections()) if (wire !== undefined) this.inc({ id }, wire.refused ?? 0);
    },
  });
  for (const [name, help, pick] of [
    ['patchbay_device_frames_total', frames, (wire: WireTotals) => [wire.framesIn, wire.framesOut]],
    ['patchbay_device_bytes_total', bytes, (wire: WireTotals) => [wire.bytesIn, wire.bytesOut]],
  ] as const)
    new Counter({
      name,
      help,
      labelNames: ['id', 'direction'],
      registers: [registry],
      collect() {
        this.reset();
        for (const { id, wire } of hub.connections()) {
          if (wire === undefined) continue;
          const [received = 0, sent = 0] = pick(wire);
          this.inc({ id, direction: 'in' }, received);
          this.inc({ id, direction: 'out' }, sent);
        }
      },
    });
}

function addDeviceStates(registry: Registry, hub: HubPort): void {
  for (const [name, help, pick] of [
    [
      'patchbay_device_stale',
      '1 while the device of a connection is offline.',
      (one: DeviceStatus) => Number(one.staleSince !== undefined),
    ],
    [
      'patchbay_device_pending_writes',
      'Writes that the device has not confirmed yet.',
      (one: DeviceStatus) => one.pending,
    ],
  ] as const)
    new Gauge({
      name,
      help,
      labelNames: ['id'],
      registers: [registry],
      collect() {
        this.reset();
        for (const { id, device } of hub.connections()) if (device !== undefined) this.set({ id }, pick(device));
      },
    });
}

function addMessages(families: Families, registry: Registry, { hooks, outboxes }: HubPort): void {
  const deliveries = 'Deliveries to the webhooks of running connections: accepted, repeated, or refused.';
  families.counters('patchbay_webhook_deliveries_total', deliveries, 'result', () => {
    const sum = { accepted: 0, repeated: 0, refused: 0 };
    for (const { totals } of hooks.values()) for (const one of hookResults) sum[one] += totals[one];
    return Object.entries(sum);
  });
  new Counter({
    name: 'patchbay_messages_total',
    help: 'Webhooks and mails of a connection: delivered, failed, or dropped because too many were waiting.',
    labelNames: ['id', 'result'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [id, read] of outboxes) {
        const totals = read();
        for (const result of messageResults) this.inc({ id, result }, totals[result]);
      }
    },
  });
  new Gauge({
    name: 'patchbay_messages_pending',
    help: 'Waiting webhooks and mails of a connection.',
    labelNames: ['id'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [id, read] of outboxes) this.set({ id }, read().pending);
    },
  });
}

function addClients(families: Families, { sockets, hits }: MetricsContext): void {
  const { rounds, lost } = sockets.fanOut;
  families.gauges('patchbay_clients', 'WebSocket clients of this connection.', 'protocol', () =>
    countProtocols(sockets),
  );
  families.gauge('patchbay_clients_stalled', 'WebSocket clients that do not read.', () => countStalled(sockets));
  const delay =
    'Time from the first change of a round of the event loop until its frames reach the sockets; sampled from one round in 16.';
  families.histogram('patchbay_fanout_delay_seconds', delay, () => rounds.durations);
  const conflated = 'Changes that newer values replaced because a client with delivery all was behind.';
  families.counter('patchbay_conflated_total', conflated, () => lost.values);
  const fires = 'Trigger firings that clients missed because they were behind, or were disconnected for being behind.';
  families.counter('patchbay_fires_lost_total', fires, () => lost.fires);
  const limits = 'Number of times that clients exceeded a limit.';
  families.counters('patchbay_limit_hits_total', limits, 'limit', () => Object.entries(hits.counts));
}

function addHeld(families: Families): void {
  const bytes = 'Bytes that the process buffers until clients, disks and hubs are ready.';
  families.gauges('patchbay_held_bytes', bytes, 'kind', () => Object.entries(held.bytes));
  const letGo = 'Number of times that the largest holder had to release bytes because the process held too many.';
  families.counters('patchbay_held_let_go_total', letGo, 'kind', () => Object.entries(held.letGo));
}

function countProtocols(sockets: Sockets): Labelled {
  const counts = new Map<string, number>(sockets.protocols.map((protocol) => [protocol, 0]));
  for (const { protocol } of sockets.clients()) counts.set(protocol, counts.get(protocol)! + 1);
  return counts;
}

function countStalled(sockets: Sockets): number {
  const nowMs = performance.now();
  let stalled = 0;
  for (const { session } of sockets.clients()) if (session.status(nowMs).state === 'stalled') stalled++;
  return stalled;
}

function addDomain(families: Families, { mirroring }: HubPort): void {
  const links = families.by('connection', () => {
    const domain = mirroring.domain?.();
    return domain === undefined ? [] : [[domain.connection, domain.link]];
  });
  links.gauges('patchbay_link_up', '1 while the link to the servers of the domain is up.', ({ isUp }) => Number(isUp));
  const isOpen = '1 if the servers of the domain accept clients without credentials.';
  links.gauges('patchbay_domain_open', isOpen, ({ isOpen = false }) => Number(isOpen));
  const reconnects = 'Reconnects to the servers of the domain.';
  links.counters('patchbay_link_reconnects_total', reconnects, (link) => link.reconnects);
  const mirrors = families.by('hub', () =>
    (mirroring.domain?.().hubs ?? []).flatMap(({ hub, parameters, mirror }) =>
      mirror === undefined ? [] : [[hub, { ...mirror, parameters }] as const],
    ),
  );
  const stale = '1 while a hub is silent.';
  mirrors.gauges('patchbay_mirror_stale', stale, ({ staleSince }) => Number(staleSince !== undefined));
  const lag = 'Time since this hub last had everything that another hub had sent.';
  mirrors.gauges('patchbay_mirror_lag_seconds', lag, ({ lagMs }) => lagMs / 1000);
  const shown = 'Mirrored parameters of a hub.';
  mirrors.gauges('patchbay_mirror_parameters', shown, ({ parameters }) => parameters);
  const refused = 'Refused messages that claimed to come from a hub.';
  mirrors.counters('patchbay_mirror_refused_total', refused, (mirror) => mirror.refused);
  const gaps = 'Gaps in the messages from a hub.';
  mirrors.counters('patchbay_mirror_gaps_total', gaps, (mirror) => mirror.gaps);
  const lost = 'Trigger firings from a hub that never arrived.';
  mirrors.counters('patchbay_mirror_fires_lost_total', lost, ({ lostFires }) => lostFires);
}

function addStore(families: Families, hub: HubPort): void {
  const parts = families.by('part', () =>
    storeParts.flatMap((part) => {
      const status = hub.persistence.archive?.[part]?.status();
      return status === undefined ? [] : [[part, status] as const];
    }),
  );
  const rows = 'Rows that the store writes per second, averaged over ten seconds.';
  parts.gauges('patchbay_store_rows_per_second', rows, ({ perSecond }) => perSecond);
  const lag = 'Age of the oldest change that is not on disk.';
  parts.gauges('patchbay_store_lag_seconds', lag, ({ lagMs }) => lagMs / 1000);
  const flush = 'Time that the store took to write values to disk.';
  families.histogram('patchbay_store_flush_seconds', flush, () => hub.persistence.archive?.values?.flushDurations);
  parts.counters('patchbay_store_lost_total', 'Changes that the store has not recorded.', (status) => status.lost);
}

// The metrics of any program, under the names that all Prometheus client libraries use.

export function addProgram(families: Families): void {
  const cpu = 'Total user and system CPU time spent in seconds.';
  families.counter('process_cpu_seconds_total', cpu, () => {
    const { user, system } = cpuUsage();
    return (user + system) / 1e6;
  });
  const startedAt = Date.now() / 1000 - uptime();
  families.gauge('process_start_time_seconds', 'Start time of the process since unix epoch.', () => startedAt);
  families.gauge('process_resident_memory_bytes', 'Resident memory size.', () => memoryUsage.rss());
  families.gauge('nodejs_heap_size_used_bytes', 'Heap in use.', () => memoryUsage().heapUsed);
  if (openFiles() > 0) families.gauge('process_open_fds', 'Number of open file descriptors.', openFiles);
  families.histogram(
    'patchbay_event_loop_delay_seconds',
    'Delay of the event loop, sampled 10 times a second.',
    loopDelays,
  );
}

/** Returns the number of open files of this process; 0 if unknown (on Linux before 6.2, and on other systems). */
function openFiles(): number {
  return statSync('/proc/self/fd', { throwIfNoEntry: false })?.size ?? 0;
}

// The delay of the event loop, which is the minimum time for which a client waits.

/** The interval between two measurements, in milliseconds. Each measurement wakes an idle hub. */
const everyMs = 100;

let delays: Durations | undefined;

/** Returns the event loop delays of this process, in seconds. Measuring begins with the first call. */
export function loopDelays(): Durations {
  delays ??= watch();
  return delays;
}

function watch(): Durations {
  const found = new Durations();
  let dueMs = performance.now() + everyMs;
  const look = () => {
    const now = performance.now();
    found.add(Math.max(0, now - dueMs) / 1000);
    dueMs = now + everyMs;
  };
  setInterval(look, everyMs).unref();
  return found;
}

// Metric families whose values are read at each scrape.

/** One value for each value of a label: `[['ok', 5], ['read-only', 1]]`. */
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

  /** Adds a metric without labels that only grows while the hub is running. `read` is called at each scrape. */
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
   * Returns functions that add metrics with one value for each of several items, such as hubs. The label `label` distinguishes the items.
   */
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
   * Adds a histogram with the hub's own counts; the histograms in the library would count separately. `read` returns undefined if there are
   * currently no counts.
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
