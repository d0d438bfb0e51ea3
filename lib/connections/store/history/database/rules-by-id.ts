// The rule of each parameter that the database knows, by its key.

import { createRuleFinder, type HistoryRule } from '../rules.ts';
import type { HistoryDatabase } from './history-database.ts';

/** Reads what the database knows now: the place of the rule in the list; undefined: no rule selects the parameter any more. */
export function readRules(
  { database }: HistoryDatabase,
  rules: readonly HistoryRule[],
): (parameter: number) => number | undefined {
  const find = createRuleFinder(rules);
  const found = new Map<number, number | undefined>();
  const rows = database.prepare('SELECT id, address FROM parameter').iterate() as Iterable<{
    id: number;
    address: string;
  }>;
  for (const { id, address } of rows) found.set(id, find(address));
  return (parameter) => found.get(parameter);
}
