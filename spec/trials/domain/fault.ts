// What may happen to hubs, servers and the links between them.

import { setTimeout as after } from 'node:timers/promises';
import type { Random } from '../../support/random.ts';
import type { Domain, FaultyHub } from './domain.ts';
import type { Direction, LinkProxy } from './proxy.ts';

export interface Fault {
  readonly text: string;
  /** The hub that was killed; undefined: none was. */
  readonly killed?: FaultyHub;
  /** Whether it was ended by an operator, so that the takeover has to be quick. */
  readonly isPlanned?: boolean;
  begin(): Promise<void> | void;
  /** Resolves when the fault is over. */
  end(): Promise<void> | void;
}

/** One way or both. */
const ways: readonly (readonly Direction[])[] = [['out'], ['in'], ['out', 'in']];

/** `kill -9`, and a new start. */
export function killOf(hub: FaultyHub): Fault {
  return { text: `kill ${hub.name}`, killed: hub, begin: () => hub.kill(), end: () => hub.start() };
}

/** SIGTERM, and a new start. */
export function endOf(hub: FaultyHub): Fault {
  const begin = () => hub.kill('SIGTERM');
  return { text: `end ${hub.name}`, killed: hub, isPlanned: true, begin, end: () => hub.start() };
}

function killOfServer({ nats }: Domain, number: number): Fault {
  const server = nats.servers[number]!;
  return { text: `kill server ${number}`, begin: () => server.kill(), end: () => server.start() };
}

/** `kill -9` of all of them, and a new start of all. */
export function killOfServers({ nats: { servers } }: Domain): Fault {
  const all = async (act: (server: (typeof servers)[number]) => Promise<void>) =>
    void (await Promise.all(servers.map(act)));
  return {
    text: 'kill all servers',
    begin: () => all((server) => server.kill()),
    end: () => all((server) => server.start()),
  };
}

/** `kill -9` of the hub of the pair that runs, and of the server that it asks, as when the machine of both dies. */
export function killOfMachine({ hubs: [main, standby], nats }: Domain): Fault {
  const hub = main.terms.at(-1)?.term === undefined ? standby : main;
  const number = hub.links.findIndex(({ isOpen }) => isOpen);
  const server = nats.servers[number]!;
  return {
    text: `kill ${hub.name} and server ${number}`,
    killed: hub,
    begin: async () => void (await Promise.all([hub.kill(), server.kill()])),
    end: async () => void (await Promise.all([hub.start(), server.start()])),
  };
}

function stopOf(name: string, signal: (signal: NodeJS.Signals) => void): Fault {
  return { text: `stop ${name}`, begin: () => signal('SIGSTOP'), end: () => signal('SIGCONT') };
}

/** Holds back what somebody sends over links (`out`), or what is sent to it; `theirs` are those over which the others connected. */
function cutOf(
  what: string,
  way: readonly Direction[],
  own: readonly LinkProxy[],
  theirs: readonly LinkProxy[] = [],
): Fault {
  const back = way.map((direction) => (direction === 'out' ? 'in' : 'out'));
  return {
    text: `cut ${what}, ${way.length === 2 ? 'both ways' : way[0]}`,
    begin() {
      for (const link of own) link.cut(way);
      for (const link of theirs) link.cut(back);
    },
    end() {
      for (const link of [...own, ...theirs]) link.heal();
    },
  };
}

/** Cuts a server off from others of its cluster. */
function cutOfServer({ routes }: Domain, number: number, others: readonly number[], way: readonly Direction[]): Fault {
  const own = others.map((other) => routes.get(number)!.get(other)!);
  const theirs = others.map((other) => routes.get(other)!.get(number)!);
  return cutOf(`server ${number} from server ${others.join(' and ')}`, way, own, theirs);
}

/** Picks a fault: of a hub, of a server, or of the links of one of them. */
export function pickFault(domain: Domain, random: Random): Fault {
  const { hubs, nats } = domain;
  const pick = <T>(all: readonly T[]) => all[random.below(all.length)]!;
  const hub = pick(hubs);
  const number = random.below(nats.servers.length);
  const others = [...(domain.routes.get(number)?.keys() ?? [])];
  const way = pick(ways);
  const faults = [
    () => killOf(hub),
    () => endOf(hub),
    () => stopOf(hub.name, (signal) => hub.signal(signal)),
    () => cutOf(`${hub.name} from all servers`, way, hub.links),
    () => cutOf(`${hub.name} from server ${number}`, way, [hub.links[number]!]),
    () => killOfServer(domain, number),
    () => stopOf(`server ${number}`, (signal) => process.kill(nats.servers[number]!.pid, signal)),
    () => cutOfServer(domain, number, others, way),
    () => cutOfServer(domain, number, [pick(others)], way),
  ];
  return pick(others.length > 0 ? faults : faults.slice(0, -2))();
}

export async function happen(fault: Fault, forMs: number): Promise<void> {
  await fault.begin();
  await after(forMs);
  await fault.end();
}
