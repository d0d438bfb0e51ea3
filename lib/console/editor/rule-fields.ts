// A rule as data, and the changes that the form makes to the rule. Settings that the form does not show stay unchanged.

import { nameFor, renameIn } from './conditions.ts';

/** A rule in the form in which it is written in its file. */
export interface Rule {
  readonly name?: string;
  readonly from?: string | readonly string[] | Readonly<Record<string, string>>;
  readonly when?: string;
  readonly map?: string;
  readonly pipe?: readonly Step[];
  readonly to?: string | readonly string[] | Readonly<Record<string, string>>;
  readonly [setting: string]: unknown;
}

export type Step = Readonly<Record<string, unknown>>;

/** A source of a rule. An empty name stands for `value`. */
export interface SourceEnd {
  readonly name: string;
  readonly address: string;
}

/** A destination of a rule. If the expression is empty, the destination receives the value that the rule writes. */
export interface TargetEnd {
  readonly address: string;
  readonly expression: string;
}

const order = ['name', 'each', 'enabled', 'from', 'require', 'hear', 'atStart', 'when', 'map', 'pipe', 'to', 'shadow'];

/** Returns a rule with changed settings; undefined removes a setting. */
export function withSettings(rule: Rule, settings: Readonly<Record<string, unknown>>): Rule {
  const entries = Object.entries({ ...rule, ...settings }).filter(([, value]) => value !== undefined);
  const rank = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  return Object.fromEntries(entries.sort(([one], [other]) => rank(one) - rank(other)));
}

export function sourcesOf({ from }: Rule): SourceEnd[] {
  if (from === undefined) return [{ name: '', address: '' }];
  if (typeof from === 'string') return [{ name: '', address: from }];
  if (Array.isArray(from)) return from.map((address) => ({ name: '', address }));
  return Object.entries(from).map(([name, address]) => ({ name, address }));
}

/** Returns whether the sources of a rule have names, so that one run sees all of them. */
export function isNamed({ from }: Rule): boolean {
  return typeof from === 'object' && !Array.isArray(from);
}

/** Replaces the sources of a rule. If the previous sources had names, the new sources are named as well; otherwise, they become a list. */
export function withSources(rule: Rule, ends: readonly SourceEnd[]): Rule {
  if (isNamed(rule))
    return withSettings(rule, { from: Object.fromEntries(ends.map((end) => [end.name, end.address])) });
  const addresses = ends.map(({ address }) => address);
  return withSettings(rule, { from: addresses.length === 1 ? addresses[0] : addresses });
}

/** Adds a source to a rule. The sources get names, because most rules with several sources compare the values of the sources. */
export function withFurtherSource(rule: Rule, address: string): Rule {
  const named = isNamed(rule) ? rule : withNames(rule);
  const ends = sourcesOf(named);
  const name = nameFor(
    address,
    ends.map((end) => end.name),
  );
  const next = withSources(named, [...ends, { name, address }]);
  return rule.map === undefined && !isSplit(rule)
    ? withSettings(next, { map: [...ends.map((end) => end.name), name].join(' || ') })
    : next;
}

/** Sets the address of the source at an index. If the name was derived from the previous address, the name changes accordingly. */
export function withSourceAddress(rule: Rule, index: number, address: string): Rule {
  const ends = sourcesOf(rule);
  const end = ends[index]!;
  const others = ends.filter((_, at) => at !== index).map(({ name }) => name);
  const isOwnName = isNamed(rule) && /^input\d+$|^$/.test(end.name);
  const name = isOwnName ? nameFor(address, others) : end.name;
  const next = withSources(
    rule,
    ends.map((one, at) => (at === index ? { name, address } : one)),
  );
  return isOwnName ? withRenamed(next, end.name, name) : next;
}

/**
 * Sets the name of the source at an index. If another source has this name, a number is appended, because each name stands for one source.
 */
export function withSourceName(rule: Rule, index: number, wanted: string): Rule {
  const ends = sourcesOf(rule);
  const others = ends.filter((_, at) => at !== index).map((end) => end.name);
  const name = freeName(wanted, others);
  const former = ends[index]!.name;
  return withRenamed(
    withSources(
      rule,
      ends.map((one, at) => (at === index ? { ...one, name } : one)),
    ),
    former,
    name,
  );
}

function freeName(wanted: string, taken: readonly string[]): string {
  if (!taken.includes(wanted)) return wanted;
  for (let number = 2; ; number++) if (!taken.includes(`${wanted}${number}`)) return `${wanted}${number}`;
}

/** Removes a source from a rule. If only one source remains, expressions read it as `value` again. */
export function withoutSource(rule: Rule, index: number): Rule {
  const ends = sourcesOf(rule).filter((_, at) => at !== index);
  const [only] = ends;
  if (ends.length !== 1 || !isNamed(rule)) return withSources(rule, ends);
  const next = withRenamed(withSettings(rule, { from: only!.address, require: undefined }), only!.name, 'value');
  return next.map?.includes('||') || next.map === 'value' ? withSettings(next, { map: undefined }) : next;
}

/**
 * Gives names to the sources of a rule. In the rule's expressions, the first name replaces `value`, and a rule without an expression
 * receives one.
 */
export function withNames(rule: Rule): Rule {
  const names: string[] = [];
  for (const { address } of sourcesOf(rule)) names.push(nameFor(address, names));
  const from = Object.fromEntries(sourcesOf(rule).map(({ address }, index) => [names[index]!, address]));
  const needsMap = rule.map === undefined && !isSplit(rule);
  const next = withRenamed(withSettings(rule, { from }), 'value', names[0]!);
  return needsMap ? withSettings(next, { map: names.join(' || ') }) : next;
}

/** Removes the names from the sources of a rule, so that expressions read the changed source as `value`. */
export function withoutNames(rule: Rule): Rule {
  const ends = sourcesOf(rule);
  const addresses = ends.map(({ address }) => address);
  const isUsual = rule.map === ends.map(({ name }) => name).join(' || ');
  const next = withSettings(rule, {
    from: addresses.length === 1 ? addresses[0] : addresses,
    require: undefined,
    ...(isUsual && { map: undefined }),
  });
  return ends.reduce((renamed, { name }) => withRenamed(renamed, name, 'value'), next);
}

function withRenamed(rule: Rule, from: string, to: string): Rule {
  const { when, map } = rule;
  return withSettings(rule, {
    ...(when !== undefined && { when: renameIn(when, from, to) }),
    ...(map !== undefined && { map: renameIn(map, from, to) }),
  });
}

export function targetsOf({ to }: Rule): TargetEnd[] {
  if (to === undefined) return [{ address: '', expression: '' }];
  if (typeof to === 'string') return [{ address: to, expression: '' }];
  if (Array.isArray(to)) return to.map((address) => ({ address, expression: '' }));
  return Object.entries(to).map(([address, expression]) => ({ address, expression }));
}

export function isSplit({ to }: Rule): boolean {
  return typeof to === 'object' && !Array.isArray(to);
}

/** Replaces the destinations of a rule. If any destination has an expression, `to` becomes an object. */
export function withTargets(rule: Rule, ends: readonly TargetEnd[]): Rule {
  if (ends.some(({ expression }) => expression !== ''))
    return withSettings(rule, { to: Object.fromEntries(ends.map((end) => [end.address, end.expression || 'value'])) });
  const addresses = ends.map(({ address }) => address);
  return withSettings(rule, { to: addresses.length === 1 ? addresses[0] : addresses });
}

/** The words for steps whose setting is a duration, keyed by the step's name. */
export const timeSteps: Readonly<Record<string, string>> = {
  offDelay: 'stay on for',
  onDelay: 'only once it has been on for',
  delay: 'delay by',
  debounceTime: 'wait until nothing has changed for',
  throttleTime: 'at most once every',
  auditTime: 'the newest value every',
  count: 'count within',
  repeat: 'repeat every',
  average: 'mean over',
  ramp: 'fade over',
};

export const otherSteps: Readonly<Record<string, string>> = {
  distinctUntilChanged: 'only if it changes',
  filter: 'only if the result',
  map: 'compute',
};
