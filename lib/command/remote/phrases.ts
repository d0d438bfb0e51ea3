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

/** `set by rule "lamp off" (demo.json5)`, `set by client api 10.0.0.3`, `restored by store` */
export function describeWriter({ kind, name, file, hub }: Origin): string {
  const verb = kind === 'restored' ? 'restored by' : `set by ${kind}`;
  if (name === something) return `${verb} that you may not see`;
  const where = hub === undefined ? '' : ` on hub "${hub}"`;
  return `${verb} ${kind === 'rule' ? `"${name}"${file && ` (${file})`}` : name}${where}`;
}
