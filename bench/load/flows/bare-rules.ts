// The same rules in bare rxjs: a BehaviorSubject for each address, and a subscription for each source, which adds one.

import { BehaviorSubject } from 'rxjs';
import type { RuleShape } from './rule-shapes.ts';

/** Returns what writes to an address. */
export function createBareRules({ rules }: RuleShape): (address: string, value: number) => void {
  const subjects = new Map<string, BehaviorSubject<number>>();
  const subjectOf = (address: string) => {
    const known = subjects.get(address) ?? new BehaviorSubject(1);
    subjects.set(address, known);
    return known;
  };
  for (const { from, to } of rules) {
    const sources = (typeof from === 'string' ? [from] : Object.values<string>(from)).map(subjectOf);
    const destinations = (typeof to === 'string' ? [to] : to).map(subjectOf);
    for (const source of sources)
      source.subscribe((value) => {
        for (const destination of destinations) destination.next(value + 1);
      });
  }
  return (address, value) => subjectOf(address).next(value);
}
