// npm run trial -- isolation: three hubs under load, whose NATS servers are all killed for a minute. Meanwhile parameters of other hubs are
// stale and cannot be written, each isolated hub does its own work, a pair stops or continues as configured, and afterwards everything
// recovers by itself. Exit status 1 otherwise.

import { setTimeout as after } from 'node:timers/promises';
import { chosenOf, defineTrial, notify } from '../trial.ts';
import { checkTerms, noteAcknowledged } from './check.ts';
import { type Domain, type FaultyHub, startDomain } from './domain.ts';
import type { Look } from './messages.ts';
import { beginLoad, type Fault, killOfServers, runRound } from './round.ts';

const options = {
  rounds: ['the number of rounds', 1],
  seconds: ['how long the servers are gone, in seconds', 60, 6],
  parameters: ['the number of parameters on all hubs together', 3000, 40],
  rate: ['the number of changes per second on all hubs together', 3000, 80],
  servers: ['the number of servers: 1 or 3', 3, 1],
  pair: [
    'what the pair does without servers: stop, go-on, one of them by chance, or both, one after the other',
    'stop',
    'one',
  ],
  stale: ['the time limit for all values of other hubs to become stale, in milliseconds', 3000, 30_000],
  equal: ['the time limit for all values to be equal afterwards, in milliseconds', 5000, 60_000],
} as const;

type Options = { readonly [Name in keyof typeof options]: Name extends 'pair' ? string : number };

export const trial = defineTrial({
  about:
    'kills all servers of a domain for a minute: values of other hubs become stale, each hub continues its own work, and all hubs recover',
  options,
  async run(values) {
    let holds = true;
    const either = Math.random() < 0.5 ? 'stop' : 'go-on';
    const chosen = { both: [], one: [either] }[values.pair] ?? [values.pair];
    for (const [pair] of chosenOf(pairs, chosen)) if (!(await isolate(values, pair === 'go-on'))) holds = false;
    return holds;
  },
});

const pairs = { stop: true, 'go-on': true };

async function isolate(options: Options, goesOn: boolean): Promise<boolean> {
  const domain = await startDomain({ ...options, goesOn });
  process.once('SIGTERM', () => void domain.end().finally(() => process.exit(1)));
  const acknowledged = new Map<string, number>();
  const mistakes: string[] = [];
  try {
    await beginLoad(domain, acknowledged);
    for (let number = 0; number < options.rounds; number++) {
      const isolation = isolationOf(domain, acknowledged, { goesOn, staleMs: options.stale });
      const round = await runRound(domain, isolation.fault, options.seconds * 1000, options.equal, acknowledged);
      for (const line of isolation.text) notify(line);
      notify(`${round.text}: equal after ${round.equalMs?.toFixed(0) ?? 'too many'} ms`);
      mistakes.push(...isolation.mistakes, ...round.mistakes);
    }
    const { mistakes: ofTerms, terms, fired } = await checkTerms(domain.hubs.slice(0, 2));
    mistakes.push(...ofTerms);
    notify(`${fired} firings in ${terms} terms`);
    for (const mistake of mistakes) notify(`**${mistake}**`);
    return mistakes.length === 0;
  } finally {
    await domain.end(mistakes.length > 0);
    if (mistakes.length > 0) notify(`the logs of hubs and servers are in ${domain.folder}`);
  }
}

const lookEveryMs = 100;
/** What a hub that works has changed by the end, of what it has. */
const worksFrom = 0.99;

interface Seen {
  readonly hub: FaultyHub;
  /** What it was when the servers had just gone, and what it is now. */
  readonly first: Look;
  last: Look;
  /** When all values of other hubs were stale, and the last time when one was not. */
  staleMs: number | undefined;
  freshMs: number;
  /** When it had ended its work. */
  endedMs: number | undefined;
}

export interface Expected {
  /** Whether a pair goes on without servers. */
  readonly goesOn: boolean;
  /** Until when all values of other hubs have to be stale. */
  readonly staleMs: number;
}

export interface Isolation {
  readonly fault: Fault;
  /** What each hub did, and what of it may not be; after the fault. */
  readonly text: readonly string[];
  readonly mistakes: readonly string[];
}

/** All servers are killed and started again, and the hubs are watched meanwhile; what is acknowledged by then is noted. */
export function isolationOf(domain: Domain, acknowledged: Map<string, number>, expected: Expected): Isolation {
  const kill = killOfServers(domain);
  const text: string[] = [];
  const mistakes: string[] = [];
  let watching: ReturnType<typeof watch> | undefined;
  const begin = async () => {
    await kill.begin();
    watching = watch(domain.hubs, acknowledged);
  };
  const end = async () => {
    for (const seen of await watching!.end()) {
      const stale = judgeStale(seen, expected);
      text.push(stale.text);
      mistakes.push(...stale.mistakes, ...judgeWork(seen, expected));
    }
    await kill.end();
  };
  return { fault: { text: kill.text, begin, end }, text, mistakes };
}

function watch(hubs: readonly FaultyHub[], acknowledged: Map<string, number>): { end(): Promise<Iterable<Seen>> } {
  const beganMs = performance.now();
  const seen = new Map<FaultyHub, Seen>();
  let isOver = false;
  const note = (hub: FaultyHub, look: Look, atMs: number) => {
    noteAcknowledged(look, acknowledged);
    const known = seen.get(hub) ?? { hub, first: look, last: look, staleMs: undefined, freshMs: 0, endedMs: undefined };
    seen.set(hub, known);
    known.last = look;
    if (look.fresh > 0) known.freshMs = atMs;
    else known.staleMs ??= atMs;
    if (look.term === undefined) known.endedMs ??= atMs;
  };
  const lookAgain = async () => {
    while (!isOver) {
      const looks = await Promise.all(hubs.map((hub) => hub.look()));
      const atMs = performance.now() - beganMs;
      for (const [index, look] of looks.entries()) note(hubs[index]!, look, atMs);
      await after(lookEveryMs);
    }
  };
  const looking = lookAgain();
  return {
    async end() {
      isOver = true;
      await looking;
      return seen.values();
    },
  };
}

function judgeStale(
  { hub, last, staleMs, freshMs, endedMs }: Seen,
  { staleMs: mostMs }: Expected,
): { text: string; mistakes: string[] } {
  const stale = `stale after ${staleMs?.toFixed(0) ?? 'too many'} ms`;
  const work = endedMs === undefined ? 'it works all the time' : `it does not work from ${endedMs.toFixed(0)} ms on`;
  const mistakes: string[] = [];
  if (staleMs === undefined || freshMs > Math.min(staleMs, mostMs))
    mistakes.push(`${hub.name}: values of other hubs were not stale until ${freshMs.toFixed(0)} ms`);
  if (last.refusal === undefined) mistakes.push(`${hub.name}: no write to another hub was refused`);
  return { text: `${hub.name}: ${stale}; ${work}; a write to another hub: ${last.refusal}`, mistakes };
}

/** A hub without a pair continues; of a pair, the active hub continues if configured to; all others change nothing. */
function judgeWork({ hub, first, last, endedMs }: Seen, { goesOn }: Expected): string[] {
  const works = first.term !== undefined && (hub.desk !== 'studio' || goesOn);
  if (!works && last.term !== undefined) return [`${hub.name} works without a lease`];
  if (!works) return [];
  if (endedMs !== undefined) return [`${hub.name} has ended its work`];
  const before = new Map(first.values);
  const outputs = last.values.filter(([address]) => address.startsWith(`${hub.desk}/out/`));
  const changed = outputs.filter(([address, value]) => value !== before.get(address)).length;
  return changed >= outputs.length * worksFrom
    ? []
    : [`${hub.name}: ${changed} of ${outputs.length} values that its rules make have changed`];
}
