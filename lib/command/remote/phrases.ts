// Values, and who wrote them, as commands print them for people.

import type { Origin } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import { something } from '../../wire/http/hidden.ts';

const shownLength = 80;

/** A value in one line. */
export function show(value: Value | null | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > shownLength ? `${text.slice(0, shownLength - 1)}…` : text;
}

/**
 * `set by rule "lamp off" (demo.json5)`, `set by client api 10.0.0.3`, `restored by store`; as another hub reports it
 * `set by client "api alice" on hub "west", as it reports`.
 */
export function describeWriter({ kind, name, file, hub, reportedBy }: Origin): string {
  const verb = kind === 'restored' ? 'restored by' : `set by ${kind}`;
  if (name === something) return `${verb} that you may not see`;
  const where = hub === undefined ? '' : ` on hub "${hub}"`;
  const who = kind === 'rule' || reportedBy !== undefined ? JSON.stringify(name) : name;
  const sentence = `${verb} ${who}${kind === 'rule' && file !== undefined ? ` (${file})` : ''}${where}`;
  if (reportedBy === undefined) return sentence;
  return `${sentence}, as ${hub === reportedBy ? 'it' : `hub "${reportedBy}"`} reports`;
}
