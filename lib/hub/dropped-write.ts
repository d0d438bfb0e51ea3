// Says which limit of a turn has dropped a write, and whose write it was.

import type { Log } from '../connections/connection.ts';
import type { RuleStates } from '../flow/run/rules/rule-states.ts';
import { type DroppedWrite, maxHops, maxWritesPerTurn } from '../graph/turn-limits.ts';
import type { Origin, Parameter } from '../model/parameter.ts';

const mostWrites = maxWritesPerTurn.toLocaleString('en');

/** Logs a dropped write, and shows the rules of this hub that led to it as limited; `ownHub` tells its name in its domain. */
export function reportDroppedWrite(
  log: Log,
  states: RuleStates,
  { limit, parameter, chain }: DroppedWrite,
  ownHub: () => string | undefined,
): void {
  const { address, lastChange } = parameter;
  const isStuck = () => parameter.lastChange === lastChange || isLate(parameter);
  const isLoop = limit === 'hops';
  const origins = isLoop ? [...new Set(chain.map(({ origin }) => origin).filter(isRule))] : [chain.at(-1)!.origin];
  const reason = isLoop ? 'it loops' : `it wrote past ${mostWrites} writes in one turn`;
  const isOwn = ({ hub }: Origin) => hub === undefined || hub === ownHub();
  for (const origin of origins.filter((one) => isRule(one) && isOwn(one)))
    states.limited(origin, `${reason}: a write to ${address} was dropped`, isStuck);
  const rules = [...new Set(origins.map(({ name }) => name))];
  const names = rules.map((name) => `"${name}"`).join(', ');
  const sentence = isLoop
    ? `rule loop: ${names} wrote past ${maxHops} hops in one turn`
    : `${origins[0]!.kind} ${names} wrote past ${mostWrites} writes in one turn`;
  log.warn({ rules, parameter: address }, `${sentence}, the write to ${address} was dropped`, `${limit} ${names}`);
}

/** The last writes of a loop over two hubs are heard of when their owner tells them. */
function isLate({ remote, lastChange }: Parameter): boolean {
  return remote !== undefined && (lastChange?.hop ?? 0) > maxHops / 2;
}

function isRule({ kind }: Origin): boolean {
  return kind === 'rule';
}
