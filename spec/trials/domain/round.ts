// One fault under load, and what holds after it.

import { setTimeout as after } from 'node:timers/promises';
import { expectMirrored, missing } from './check.ts';
import type { Domain } from './domain.ts';
import { type Fault, happen } from './fault.ts';

/** The load goes on for so long after a fault before it pauses, so that values can be compared. */
const loadAfterMs = 2000;
const startMs = 60_000;

export interface RoundResult {
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
