// One fault under load, and the checks after it.

import { setTimeout as after } from 'node:timers/promises';
import type { Random } from '../../support/random.ts';
import { expectMirrored, missing } from './check.ts';
import type { Domain, FaultyHub } from './domain.ts';
import type { Direction, LinkProxy } from './proxy.ts';

/** The load goes on for so long after a fault before it pauses, so that values can be compared. */
const loadAfterMs = 2000;
const startMs = 60_000;

interface RoundResult {
  readonly text: string;
  /** How long after the end of the fault all values were equal; undefined: too long. */
  readonly equalMs: number | undefined;
  /** How long after a kill of the one that ran the other one began; undefined: nobody had to. */
  readonly takeoverMs: number | undefined;
  readonly acknowledged: number;
  readonly mistakes: readonly string[];
}

/** Waits until the servers have their leaders and the hubs one another, then lets the load go on. Errors: what is not so. */
export async function beginLoad({ hubs }: Domain, acknowledged: Map<string, number>): Promise<void> {
  for (const hub of hubs) hub.ask('pause');
  const { equalMs, mistakes } = await expectMirrored(hubs, performance.now(), startMs, acknowledged);
  if (equalMs === undefined) throw new Error(`at the start: ${mistakes.join('; ')}`);
  for (const hub of hubs) hub.ask('go on');
}

/** `acknowledged` has what must be there, of all rounds so far. */
export async function runRound(
  { hubs }: Domain,
  fault: Fault,
  forMs: number,
  deadlineMs: number,
  acknowledged: Map<string, number>,
): Promise<RoundResult> {
  const [main, standby] = hubs;
  const victim = fault.killed;
  const heir = victim === main ? standby : victim === standby ? main : undefined;
  const wasRunning = heir !== undefined && victim!.terms.at(-1)?.term !== undefined;
  const beganMs = Number(process.hrtime.bigint() / 1_000_000n);
  await happen(fault, forMs);
  const endMs = performance.now();
  await after(loadAfterMs);
  for (const hub of hubs) hub.ask('pause');
  const { equalMs, mistakes, owned } = await expectMirrored(hubs, endMs, deadlineMs, acknowledged);
  const isLost = (address: string) => victim !== undefined && address.startsWith(`${victim.desk}/`);
  for (const [address] of acknowledged) if (isLost(address)) acknowledged.set(address, owned.get(address) ?? 0);
  const begun = heir?.terms.find(({ term, atMs }) => term !== undefined && atMs > beganMs)?.atMs;
  const lost = equalMs === undefined ? [] : missing(acknowledged, owned);
  for (const hub of hubs) hub.ask('go on');
  return {
    text: `${fault.text} for ${(forMs / 1000).toFixed(1)} s`,
    equalMs,
    takeoverMs: wasRunning && begun !== undefined ? begun - beganMs : undefined,
    acknowledged: acknowledged.size,
    mistakes: [...(equalMs === undefined ? mistakes : []), ...lost],
  };
}

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
function killOf(hub: FaultyHub): Fault {
  return { text: `kill ${hub.name}`, killed: hub, begin: () => hub.kill(), end: () => hub.start() };
}

/** SIGTERM, and a new start. */
function endOf(hub: FaultyHub): Fault {
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

/** Faults of the hub of the pair that runs, by name: after each of them the other one takes over. */
export const faultsOfPair: Readonly<Record<string, (domain: Domain) => Fault>> = {
  end: (domain) => endOf(runningOf(domain)),
  kill: (domain) => killOf(runningOf(domain)),
  machine: killOfMachine,
};

function runningOf({ hubs: [main, standby] }: Domain): FaultyHub {
  return main.terms.at(-1)?.term === undefined ? standby : main;
}

/** `kill -9` of the hub of the pair that runs, and of the server that it asks, as when the machine of both dies. */
function killOfMachine(domain: Domain): Fault {
  const { nats } = domain;
  const hub = runningOf(domain);
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

async function happen(fault: Fault, forMs: number): Promise<void> {
  await fault.begin();
  await after(forMs);
  await fault.end();
}
