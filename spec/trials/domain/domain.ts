// Three hubs and three servers, each of which can be killed, stopped and cut off.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { within } from '../../../lib/model/time/deadline.ts';
import { createTemporaryFolder } from '../../support/folder.ts';
import { type NatsServers, startNats } from '../../support/nats/servers.ts';
import type { FromHub, HubTask, Look } from './messages.ts';
import { type LinkProxy, startProxy } from './proxy.ts';

const startDeadlineMs = 120_000;
const lookDeadlineMs = 60_000;
/** Each run of a hub writes greater values than all earlier runs. */
const valuesPerRun = 10_000_000;

interface Term {
  readonly term: number | undefined;
  readonly atMs: number;
}

interface DomainOptions {
  readonly parameters: number;
  readonly rate: number;
  readonly servers: number;
  /** Whether the pair continues without servers. */
  readonly goesOn?: boolean;
}

/** One of the hubs, whichever process it is at the moment. */
export class FaultyHub {
  readonly name: string;
  readonly desk: string;
  /** Its links, one for each server. */
  readonly links: readonly LinkProxy[];
  /** What this run of it has told of its terms. */
  terms: Term[] = [];
  readonly #task: Omit<HubTask, 'firings' | 'log' | 'from'>;
  readonly #folder: string;
  #process: ChildProcess | undefined;
  #run = 0;

  constructor(
    folder: string,
    name: string,
    links: readonly LinkProxy[],
    task: Omit<HubTask, 'firings' | 'log' | 'from'>,
  ) {
    this.name = name;
    this.desk = task.desk;
    this.links = links;
    this.#folder = folder;
    this.#task = task;
  }

  /** Where each run of it has noted its firings. */
  get firings(): string[] {
    return Array.from({ length: this.#run }, (_, run) => this.#firingsOf(run));
  }

  async start(): Promise<void> {
    const run = this.#run++;
    const [firings, log] = [this.#firingsOf(run), join(this.#folder, `${this.name}-${run}.log`)];
    const task: HubTask = { ...this.#task, firings, log, from: (run + 1) * valuesPerRun };
    const child = fork(join(import.meta.dirname, 'hub-process.ts'), [JSON.stringify(task)], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    this.#process = child;
    this.terms = [];
    child.on('message', (message: FromHub) => {
      if (message.reports === 'term') this.terms.push(message);
    });
    await this.#reported('ready', startDeadlineMs);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  /** Ends it: at once, or as an operator does, with SIGTERM. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  ask(what: 'pause' | 'go on'): void {
    this.#process!.send({ ask: what });
  }

  async look(): Promise<Look> {
    const reported = this.#reported('look', lookDeadlineMs);
    this.#process!.send({ ask: 'look' });
    return ((await reported) as FromHub & { reports: 'look' }).look;
  }

  #firingsOf(run: number): string {
    return join(this.#folder, `${this.name}-${run}.firings`);
  }

  /** Several messages may come at once, so none is waited for with `once`. */
  async #reported(reports: FromHub['reports'], deadlineMs: number): Promise<FromHub> {
    const child = this.#process!;
    const { promise, resolve } = Promise.withResolvers<FromHub>();
    const take = (message: FromHub) => {
      if (message.reports === reports) resolve(message);
    };
    child.on('message', take);
    const reported = await within(promise, deadlineMs);
    child.off('message', take);
    if (reported === undefined) throw new Error(`${this.name} has not told "${reports}" within ${deadlineMs} ms`);
    return reported;
  }
}

export interface Domain {
  /** Two of a pair, and one for itself. */
  readonly hubs: readonly [FaultyHub, FaultyHub, FaultyHub];
  readonly nats: NatsServers;
  /** The link over which one server may have connected to another one, by the two. */
  readonly routes: ReadonlyMap<number, ReadonlyMap<number, LinkProxy>>;
  /** Where hubs and servers have their logs, until all ends. */
  readonly folder: string;
  /** Ends all; what hubs and servers have written stays if it is said to. */
  end(keepsFolder?: boolean): Promise<void>;
}

export async function startDomain({
  parameters,
  rate,
  servers: count,
  goesOn = false,
}: DomainOptions): Promise<Domain> {
  const { path: folder, remove } = await createTemporaryFolder('faults');
  const routes = new Map<number, Map<number, LinkProxy>>();
  const reach = async (from: number, to: number, port: number) => {
    const proxy = await startProxy(port);
    routes.set(from, (routes.get(from) ?? new Map<number, LinkProxy>()).set(to, proxy));
    return proxy.port;
  };
  const nats = await startNats(count, { reach, logs: folder });
  const inputs = Math.floor(parameters / 4);
  const create = async (name: string, hub: string, desk: string, otherDesk: string, place: number) => {
    const links = await Promise.all(nats.servers.map(({ port }) => startProxy(port)));
    const flow = join(folder, `${name}.json5`);
    const servers = links.map(({ port }) => `nats://127.0.0.1:${port}`);
    await writeFile(flow, JSON.stringify(flowOf({ servers, hub, isPair: hub === 'studio', goesOn, desk, inputs })));
    return new FaultyHub(folder, name, links, { flow, place, desk, otherDesk, inputs, rate: rate / 4 });
  };
  const hubs = await Promise.all([
    create('main', 'studio', 'studio', 'annex', 0),
    create('standby', 'studio', 'studio', 'annex', 1),
    create('annex', 'annex', 'annex', 'studio', 2),
  ]);
  await Promise.all(hubs.map((hub) => hub.start()));
  return {
    hubs: hubs as [FaultyHub, FaultyHub, FaultyHub],
    nats,
    routes,
    folder,
    async end(keepsFolder = false) {
      await Promise.all(hubs.map((hub) => hub.kill()));
      await nats.end();
      for (const { links } of hubs) for (const link of links) link.end();
      for (const links of routes.values()) for (const link of links.values()) link.end();
      await after(0);
      if (!keepsFolder) await remove();
    },
  };
}

interface FaultsFlow {
  readonly servers: readonly string[];
  readonly hub: string;
  readonly isPair: boolean;
  /** Whether a pair goes on without servers. */
  readonly goesOn: boolean;
  /** The ID of its connection. */
  readonly desk: string;
  /** How many of its parameters are written, each with a rule that copies it to another. */
  readonly inputs: number;
}

/** How many hubs write and wait for the answer: each has a parameter `ack` of its own at the other desk, and one `own` at its desk. */
const writers = 3;

function flowOf({ servers, hub, isPair, goesOn, desk, inputs }: FaultsFlow): object {
  const ids = Array.from({ length: inputs }, (_, index) => index);
  const acknowledged = Array.from({ length: writers }, (_, index) => [`ack/${index},I,0`, `own/${index},I,0`]).flat();
  return {
    connections: {
      house: { type: 'nats', servers, domain: 'faults', hub, pair: isPair, isolated: goesOn ? 'go-on' : 'stop' },
      [desk]: {
        type: 'dummy',
        parameters: [...ids.flatMap((id) => [`in/${id},I,0`, `out/${id},I,0`]), ...acknowledged],
      },
    },
    rules: ids.map((id) => ({ name: `${desk} ${id}`, from: `${desk}/in/${id}`, to: `${desk}/out/${id}` })),
  };
}
