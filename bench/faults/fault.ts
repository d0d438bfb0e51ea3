// What may happen to hubs, servers and the links between them.

import { setTimeout as after } from 'node:timers/promises';
import type { Random } from '../fuzz/random.ts';
import type { Domain, FaultyHub } from './domain.ts';
import type { Direction } from './proxy.ts';

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

/** Picks a fault. */
export function pickFault({ hubs, nats }: Domain, random: Random): Fault {
  const hub = hubs[random.below(hubs.length)]!;
  const server = nats.servers[random.below(nats.servers.length)]!;
  const name = `server ${nats.servers.indexOf(server)}`;
  const way = ways[random.below(ways.length)]!;
  const faults: (() => Fault)[] = [
    () => killOf(hub),
    () => endOf(hub),
    () => ({ text: `stop ${hub.name}`, begin: () => hub.signal('SIGSTOP'), end: () => hub.signal('SIGCONT') }),
    () => ({ text: `kill ${name}`, begin: () => server.kill(), end: () => server.start() }),
    () => ({
      text: `stop ${name}`,
      begin: () => void process.kill(server.pid, 'SIGSTOP'),
      end: () => void process.kill(server.pid, 'SIGCONT'),
    }),
    () => ({
      text: `cut ${hub.name} ${way.length === 2 ? 'both ways' : way[0]}`,
      begin: () => hub.cut(way),
      end: () => hub.heal(),
    }),
  ];
  return faults[random.below(faults.length)]!();
}

export async function happen(fault: Fault, forMs: number): Promise<void> {
  await fault.begin();
  await after(forMs);
  await fault.end();
}
