// Checks after a fault: all hubs have the values of the owners, no acknowledged write is missing, and no rule ever ran on two hubs at once.

import { readFile } from 'node:fs/promises';
import { becomesSo } from '../../support/deadline.ts';
import type { FaultyHub } from './domain.ts';
import type { Look } from './messages.ts';

const lookEveryMs = 100;

interface Mirrored {
  /** The time until all were equal; undefined: they were not by the deadline. */
  readonly equalMs: number | undefined;
  readonly mistakes: readonly string[];
  /** The values of the owners by address, as far as there were owners. */
  readonly owned: ReadonlyMap<string, number>;
}

/** Notes what has been acknowledged since the last look: of each address the greatest value has to be there. */
export function noteAcknowledged(look: Look, acknowledged: Map<string, number>): void {
  for (const [address, value] of look.acknowledged)
    acknowledged.set(address, Math.max(acknowledged.get(address) ?? 0, value));
}

/** Looks until all hubs have the values of the owners; what was acknowledged meanwhile is noted. */
export async function expectMirrored(
  hubs: readonly FaultyHub[],
  sinceMs: number,
  deadlineMs: number,
  acknowledged: Map<string, number>,
): Promise<Mirrored> {
  let last!: ReturnType<typeof compare>;
  let tookMs = 0;
  const areEqual = async () => {
    const looks = await Promise.all(hubs.map((hub) => hub.look()));
    for (const look of looks) noteAcknowledged(look, acknowledged);
    last = compare(hubs, looks);
    tookMs = performance.now() - sinceMs;
    return last.mistakes.length === 0;
  };
  const leftMs = sinceMs + deadlineMs - performance.now();
  const isInTime = await becomesSo(areEqual, { deadlineMs: leftMs, everyMs: lookEveryMs });
  return { ...last, equalMs: isInTime ? tookMs : undefined };
}

/** Compares every value of every hub with that of its owner. */
function compare(
  hubs: readonly FaultyHub[],
  looks: readonly Look[],
): { mistakes: string[]; owned: ReadonlyMap<string, number> } {
  const mistakes: string[] = [];
  const owned = new Map<string, number>();
  for (const desk of new Set(hubs.map((hub) => hub.desk))) {
    const owners = looks.filter(({ term }, index) => hubs[index]!.desk === desk && term !== undefined);
    if (owners.length !== 1) {
      mistakes.push(`${owners.length} hubs run "${desk}"`);
      continue;
    }
    for (const [address, value] of owners[0]!.values)
      if (address.startsWith(`${desk}/`)) owned.set(address, Number(value));
  }
  for (const [index, { values, stale, underWay }] of looks.entries()) {
    const { name } = hubs[index]!;
    if (underWay > 0) mistakes.push(`${name}: ${underWay} writes are not answered`);
    if (stale.length > 0) mistakes.push(`${name}: ${stale.length} or more are stale, such as ${stale[0]}`);
    const known = new Map(values);
    const others = [...owned].filter(([address, value]) => known.get(address) !== value);
    const [first] = others;
    if (first !== undefined)
      mistakes.push(
        `${name}: ${others.length} of ${owned.size} differ, ${first[0]} is ${known.get(first[0])} in place of ${first[1]}`,
      );
  }
  return { mistakes, owned };
}

/** Says which writes were acknowledged and are not there. */
export function missing(acknowledged: ReadonlyMap<string, number>, owned: ReadonlyMap<string, number>): string[] {
  return [...acknowledged]
    .filter(([address, value]) => (owned.get(address) ?? 0) < value)
    .map(([address, value]) => `${address}: ${value} was acknowledged, its owner has ${owned.get(address)}`);
}

interface Span {
  readonly hub: string;
  readonly term: number;
  first: bigint;
  last: bigint;
  count: number;
}

/** What all hubs of a pair have noted: each term is that of one hub, and all its firings come before those of the next one. */
export async function checkTerms(
  hubs: readonly FaultyHub[],
): Promise<{ mistakes: string[]; terms: number; fired: number }> {
  const spans = new Map<string, Span>();
  for (const { name, firings } of hubs)
    for (const [run, file] of firings.entries())
      for (const line of (await readFile(file, 'utf8').catch(() => '')).split('\n').slice(0, -1)) {
        const [term, first, last, count] = line.split(' ') as [string, string, string, string];
        const key = `${name} ${run} ${term}`;
        const span = spans.get(key) ?? { hub: key, term: Number(term), first: BigInt(first), last: 0n, count: 0 };
        span.last = BigInt(last);
        span.count += Number(count);
        spans.set(key, span);
      }
  const inOrder = [...spans.values()].sort((one, other) => one.term - other.term);
  const mistakes: string[] = [];
  for (const [index, span] of inOrder.entries()) {
    const before = inOrder[index - 1];
    if (span.term < 1) mistakes.push(`${span.hub}: ${span.count} rules have fired without a term`);
    if (before === undefined) continue;
    if (before.term === span.term) mistakes.push(`term ${span.term} is that of ${before.hub} and of ${span.hub}`);
    if (before.last >= span.first) {
      const ms = Number(before.last - span.first) / 1e6;
      mistakes.push(`${before.hub} still ran rules ${ms.toFixed(1)} ms after ${span.hub} had begun`);
    }
  }
  return { mistakes, terms: inOrder.length, fired: inOrder.reduce((sum, { count }) => sum + count, 0) };
}
