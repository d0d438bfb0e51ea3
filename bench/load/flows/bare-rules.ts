// The same rules in bare rxjs: a BehaviorSubject for each address, and a subscription for each source, which computes as much and
// reads what the rule reads.

import { BehaviorSubject, scan } from 'rxjs';
import type { Rule, RuleShape } from './rule-shapes.ts';

type Subjects = (address: string) => BehaviorSubject<number>;

/** Returns what writes to an address. */
export function createBareRules({ rules }: RuleShape): (address: string, value: number) => void {
  const subjects = new Map<string, BehaviorSubject<number>>();
  const subjectOf: Subjects = (address) => {
    const known = subjects.get(address) ?? new BehaviorSubject(1);
    subjects.set(address, known);
    return known;
  };
  for (const rule of rules) start(rule, subjectOf);
  return (address, value) => subjects.get(address)!.next(value);
}

function start({ from, when, map = '', pipe, to }: Rule, subjectOf: Subjects): void {
  const sources = (typeof from === 'string' ? [from] : Object.values<string>(from)).map(subjectOf);
  const destinations = (typeof to === 'string' ? [to] : to).map(subjectOf);
  const hasNames = !(typeof from === 'string' || Array.isArray(from));
  const read = hasNames
    ? sources
    : Array.from(map.matchAll(/param\('([^']+)'\)/g), ([, address]) => subjectOf(address!));
  const hasSum = pipe !== undefined;
  const run = (value: number) => {
    if (when !== undefined && value <= 0) return;
    let result = value + 1;
    for (const { value: other } of read) result += other;
    for (const destination of destinations) destination.next(result);
  };
  for (const source of sources) (hasSum ? source.pipe(scan((sum, value) => sum + value, 0)) : source).subscribe(run);
}
