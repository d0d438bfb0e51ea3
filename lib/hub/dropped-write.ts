// Says which limit of a turn has dropped a write, and whose write it was.

import type { Log } from '../connections/connection.ts';
import type { RuleStates } from '../flow/run/rules/rule-states.ts';
import { type DroppedWrite, maxHops, maxWritesPerTurn } from '../graph/turn-limits.ts';
import type { Origin } from '../model/parameter.ts';

const mostWrites = maxWritesPerTurn.toLocaleString('en');

/** Logs a dropped write, and shows the rules that led to it as limited. */
export function reportDroppedWrite(log: Log, states: RuleStates, { limit, parameter, chain }: DroppedWrite): void {
  const { address, lastChange } = parameter;
  const isStuck = () => parameter.lastChange === lastChange;
  const isLoop = limit === 'hops';
  const origins = isLoop ? [...new Set(chain.map(({ origin }) => origin).filter(isRule))] : [chain.at(-1)!.origin];
  const reason = isLoop ? 'it loops' : `it wrote past ${mostWrites} writes in one turn`;
  for (const origin of origins.filter((one) => isRule(one) && one.hub === undefined))
    states.limited(origin, `${reason}: a write to ${address} was dropped`, isStuck);
  const rules = [...new Set(origins.map(({ name }) => name))];
  const names = rules.map((name) => `"${name}"`).join(', ');
  const sentence = isLoop
    ? `rule loop: ${names} wrote past ${maxHops} hops in one turn`
    : `${origins[0]!.kind} ${names} wrote past ${mostWrites} writes in one turn`;
  log.warn({ rules, parameter: address }, `${sentence}, the write to ${address} was dropped`, `${limit} ${names}`);
}

function isRule({ kind }: Origin): boolean {
  return kind === 'rule';
}
