// npm run trial -- faults: three hubs and three NATS servers under load, one of which is killed, stopped or cut off, again and again.
// Afterwards all hubs must have the values of the owners, no acknowledged write may be missing, and no rule may have run on two hubs at
// once. Exit status 1 otherwise.

import { setTimeout as after } from 'node:timers/promises';
import { untilSo } from '../../support/deadline.ts';
import { Random } from '../../support/random.ts';
import { chosenOf, defineTrial, notify } from '../trial.ts';
import { checkTerms } from './check.ts';
import { type FaultyHub, startDomain } from './domain.ts';
import { beginLoad, faultsOfPair, pickFault, runRound } from './round.ts';

const options = {
  rounds: ['the number of faults', 30, 2],
  first: ['the number of the first fault; with the same seed, a number always stands for the same fault', 1],
  kinds: [`which faults, in turn: ${Object.keys(faultsOfPair).join(', ')}; empty: any`, '', 'end,kill'],
  parameters: ['the number of parameters on all hubs together', 3000, 60],
  rate: ['the number of changes per second on all hubs together', 3000, 120],
  longest: ['the maximum duration of a fault, in seconds', 20, 1],
  equal: ['the time limit for all values to be equal, in milliseconds', 5000, 60_000],
  takeover: ['the time limit for a takeover, in milliseconds', 8000, 60_000],
  planned: ['the time limit for a takeover after SIGTERM, in milliseconds', 1000, 60_000],
  servers: ['the number of servers: 1 or 3', 3, 1],
  seed: ['the seed for the faults', 1],
} as const;

export const trial = defineTrial({
  about:
    'kills, stops and cuts off hubs and servers of a domain under load: all hubs must have the same values again, and no rule may run twice',
  options,
  run,
});

type Options = { readonly [Name in keyof typeof options]: Name extends 'kinds' ? string : number };

/** Before a machine dies, each server leads what it is meant to; it comes back after the takeover. */
const spreadMs = 15_000;
const machineMs = 10_000;
const firedMs = 60_000;

async function run(options: Options): Promise<boolean> {
  const kinds = options.kinds === '' ? [] : options.kinds.split(',').map((kind) => chosenOf(faultsOfPair, [kind])[0]!);
  const domain = await startDomain(options);
  const acknowledged = new Map<string, number>();
  process.once('SIGTERM', () => void domain.end().finally(() => process.exit(1)));
  const pair = domain.hubs.slice(0, 2);
  let failed = 0;
  const equals: number[] = [];
  const takeovers: number[] = [];
  try {
    await beginLoad(domain, acknowledged);
    for (let number = options.first; number < options.first + options.rounds; number++) {
      const random = new Random(options.seed, number);
      const pauses = watchPauses();
      const [kind, faultOf] = kinds[number % kinds.length] ?? [];
      await after(kind === 'machine' ? spreadMs : 1000);
      if (kind !== undefined) await untilFiredIn(pair, number - options.first + 1);
      const forMs = kind === 'machine' ? machineMs : 1000 + random.below(1000 * (options.longest - 1));
      const fault = faultOf?.(domain) ?? pickFault(domain, random);
      const result = await runRound(domain, fault, forMs, options.equal, acknowledged);
      const mistakes = [...result.mistakes];
      if (result.equalMs !== undefined) equals.push(result.equalMs);
      if (result.takeoverMs !== undefined) takeovers.push(result.takeoverMs);
      const longest = fault.isPlanned ? options.planned : options.takeover;
      if ((result.takeoverMs ?? 0) > longest) mistakes.push('the takeover took too long');
      if (kind !== undefined && result.takeoverMs === undefined) mistakes.push('nobody took over');
      if (result.acknowledged === 0) mistakes.push('no write was acknowledged');
      const takeover = result.takeoverMs === undefined ? '' : `, takeover after ${result.takeoverMs} ms`;
      const longestMs = pauses.end();
      const pause =
        longestMs < 500 ? '' : ` (the machine was busy: this script itself stood still for ${longestMs} ms)`;
      const equal = `equal after ${result.equalMs?.toFixed(0) ?? 'too many'} ms`;
      notify(`${new Date().toISOString()} ${number}: ${result.text}: ${equal}${takeover}${pause}`);
      for (const mistake of mistakes) notify(`   ${mistake}`);
      if (mistakes.length > 0) failed++;
    }
    if (kinds.length > 0) await untilFiredIn(pair, options.rounds + 1);
    const { mistakes, terms, fired } = await checkTerms(pair);
    for (const mistake of mistakes) notify(mistake);
    notify(
      `${options.rounds} faults, ${failed} with a mistake; ${fired} firings in ${terms} terms, ${mistakes.length} mistakes in these; slowest: equal after ${most(equals)} ms, takeover after ${most(takeovers)} ms`,
    );
    failed += mistakes.length;
    return failed === 0;
  } finally {
    await domain.end(failed > 0);
    if (failed > 0) notify(`the logs of hubs and servers are in ${domain.folder}`);
  }
}

/** Waits until rules of the pair have fired in so many terms. */
function untilFiredIn(pair: readonly FaultyHub[], count: number): Promise<void> {
  const haveFired = async () => (await checkTerms(pair)).terms >= count;
  return untilSo(`rules that fire in ${count} terms`, haveFired, { deadlineMs: firedMs, everyMs: 100 });
}

function most(values: readonly number[]): string {
  return Math.max(0, ...values).toFixed(0);
}

const everyMs = 20;

export interface Pauses {
  /** The longest pause in milliseconds. */
  end(): number;
}

export function watchPauses(): Pauses {
  let lastMs = performance.now();
  let longestMs = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }, everyMs);
  return {
    end() {
      clearInterval(timer);
      return Math.round(longestMs);
    },
  };
}
