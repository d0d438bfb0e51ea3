// A network as a flow file, as its author would write it.

import type { Network } from './network.ts';
import { digits, isList, isTrigger, type NetworkRule, nudge, type Term, threshold } from './rule.ts';

/** The flow file, before `each` is expanded. */
export function asFlow({ ids, defaults, studios, others }: Network): object {
  const line = (id: string) => {
    const [name] = id.split('@');
    return isTrigger(id) ? `${name},T` : `${name},F${defaults[id] === undefined ? '' : `,${defaults[id]}`}`;
  };
  const linesOf = Map.groupBy(ids, connectionOf);
  const connections = [...linesOf].map(([id, some]) => [id, { type: 'dummy', parameters: some.map(line) }]);
  const each = { studio: studios?.studios };
  const made = studios?.rules.map(asRule) ?? [];
  const repeated = studios?.isByRule ? made.map((rule) => ({ each, ...rule })) : [{ each, rules: made }];
  const rules = [...(studios === undefined ? [] : repeated), ...others.map(asRule)];
  return { connections: Object.fromEntries(connections), rules };
}

/** `s1@2` is `studio-2/s1`, `s1` is `desk/s1`. */
export function addressOf(id: string): string {
  return `${connectionOf(id)}/${id.split('@')[0]}`;
}

/** The other way round. */
export function idOf(address: string): string {
  const [connection, name] = address.split('/');
  return connection === 'desk' ? name! : `${name}@${connection!.slice('studio-'.length)}`;
}

function connectionOf(id: string): string {
  const [, studio] = id.split('@');
  if (studio === undefined) return 'desk';
  return studio === '$' ? 'studio-${studio.n}' : `studio-${studio}`;
}

function asRule(rule: NetworkRule): object {
  const { name, from, requiresAny, when, map, to, split, atStart, listensToWrites } = rule;
  const pipe = asPipe(rule);
  const named = (from: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(from).map(([key, id]) => [key, addressOf(id)]));
  return {
    name,
    from: isList(from) ? from.map(addressOf) : named(from),
    ...(requiresAny && { require: 'any' }),
    ...(when && { when: `${textOf(when)} > ${threshold}` }),
    ...(map && { map: textOf(map) }),
    ...(pipe.length > 0 && { pipe }),
    to: split ? Object.fromEntries(to.map((id, index) => [addressOf(id), textOf(split[index]!)])) : to.map(addressOf),
    ...(atStart && { atStart }),
    ...(listensToWrites && { hear: 'writes' }),
  };
}

function asPipe({ startWith, step }: NetworkRule): object[] {
  const first = startWith === undefined ? [] : [{ startWith }];
  if (step === undefined) return first;
  const { is, overMs, everyMs } = step;
  const setting = everyMs === undefined ? `${overMs}ms` : { over: overMs, every: `${everyMs}ms` };
  return [...first, { [is]: setting }, { map: `round(value + ${nudge.toFixed(9)}, ${digits})` }];
}

function textOf(term: Term): string {
  if (term.is === 'number') return term.isGiven ? '(${studio.k})' : `${term.number}.0`;
  if (term.is === 'name') return term.name;
  if (term.is === 'fired') return `(${term.name} ? 1.0 : 0.0)`;
  if (term.is === 'param')
    return `param('${addressOf(term.id)}'${term.otherwise === undefined ? '' : `, ${term.otherwise}`})`;
  if (term.is === 'known') return `(known('${addressOf(term.id)}') ? ${textOf(term.known)} : ${textOf(term.unknown)})`;
  if (term.is === 'choice')
    return `(${textOf(term.on)} > ${threshold} ? ${textOf(term.above)} : ${textOf(term.below)})`;
  return `clamp(${textOf(term.left)} + ${textOf(term.right)}, 0, 3)`;
}
