// Says which limit of a turn has dropped a write, and whose write it was.

import type { Log } from '../connections/connection.ts';
import type { RuleStates } from '../flow/run/rules/rule-states.ts';
import { type DroppedWrite, maxHops, maxWritesPerTurn } from '../graph/turn-limits.ts';
import { groupDigits } from '../model/digits.ts';
import type { Change, Origin, Parameter } from '../model/parameter.ts';

const mostWrites = groupDigits(maxWritesPerTurn);

/**
 * Returns what logs a dropped write, and shows the rules of this hub that led to it as limited; `ownHub` tells its name in its
 * domain. A turn may drop a hundred thousand writes of one rule: what is said of them is made once.
 */
export function createDropReport(
  log: Log,
  states: RuleStates,
  ownHub: () => string | undefined,
): (drop: DroppedWrite) => void {
  let last: { readonly drop: DroppedWrite; readonly change: Change | undefined; readonly tell: () => void } | undefined;
  return (drop) => {
    const change = drop.write.parameter.lastChange;
    if (last === undefined || last.change !== change || !areAlike(last.drop, drop))
      last = { drop, change, tell: tellerOf(drop, log, states, ownHub) };
    last.tell();
  };
}

/** Whether the same rule has written the same parameter too often, which needs no chain to tell. */
function areAlike(one: DroppedWrite, other: DroppedWrite): boolean {
  const isOfOne = one.write.origin === other.write.origin && one.write.parameter === other.write.parameter;
  return isOfOne && one.limit === 'writes' && other.limit === 'writes';
}

/** Returns what tells of a dropped write, as often as it is called. */
function tellerOf(
  { limit, write, chain }: DroppedWrite,
  log: Log,
  states: RuleStates,
  ownHub: () => string | undefined,
): () => void {
  const { parameter } = write;
  const { address, lastChange } = parameter;
  const isStuck = () => parameter.lastChange === lastChange || isLate(parameter);
  const isLoop = limit === 'hops';
  const origins = isLoop ? rulesOf(chain, ownHub()) : [write.origin];
  const reason = isLoop ? 'it loops' : `it wrote past ${mostWrites} writes in one turn`;
  const isOwn = ({ hub }: Origin) => hub === undefined || hub === ownHub();
  const limited = origins.filter((one) => isRule(one) && isOwn(one));
  const rules = [...new Set(origins.map(({ name }) => name))];
  const names = rules.map((name) => `"${name}"`).join(', ');
  const sentence = isLoop
    ? `rule loop: ${names} wrote past ${maxHops} hops in one turn`
    : `${origins[0]!.kind} ${names} wrote past ${mostWrites} writes in one turn`;
  const consequence = `a write to ${address} was dropped`;
  const data = { rules, parameter: address };
  return () => {
    for (const origin of limited) states.limited(origin, `${reason}: ${consequence}`, isStuck);
    log.warn(data, `${sentence}, the write to ${address} was dropped`, `${limit} ${names}`);
  };
}

/** Each rule once: what other hubs have told of it, each time anew, is the same rule. */
function rulesOf(chain: readonly Change[], ownHub: string | undefined): Origin[] {
  const rules = new Map<string, Origin>();
  for (const { origin } of chain) {
    const { name, file = '', hub = ownHub } = origin;
    if (isRule(origin)) rules.set(JSON.stringify([name, file, hub]), origin);
  }
  return [...rules.values()];
}

/** The last writes of a loop over two hubs are heard of when their owner tells them. */
function isLate({ remote, lastChange }: Parameter): boolean {
  return remote !== undefined && (lastChange?.hop ?? 0) > maxHops / 2;
}

function isRule({ kind }: Origin): boolean {
  return kind === 'rule';
}
