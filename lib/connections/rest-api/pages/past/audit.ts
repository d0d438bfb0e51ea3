// GET /hub/audit: who did what, newest first.

import { describe, HubError } from '../../../../model/error.ts';
import { type AuditKind, auditKinds } from '../../../../model/reports/audit-entry.ts';
import { maxEntries, usualEntries } from '../../../../wire/http/limits.ts';
import type { AuditQuestion } from '../../../archive.ts';
import { endOfTime, readCount, readRange } from './range.ts';
import type { PastContext, PastRequest } from './serve-past.ts';

export const auditPath = '/hub/audit';
/** Longer texts are not looked for. */
const maxLength = 200;

/** Left out, `from` and `to` are the beginning and the end of all time. Errors: `bad-request`. */
export function readAuditQuestion(_: PastContext, { query }: PastRequest): AuditQuestion {
  return {
    ask: 'audit',
    ...readRange(query, '00000', endOfTime),
    address: readText(query, 'address'),
    user: readText(query, 'user'),
    kind: readKind(query.get('kind')),
    text: readText(query, 'text'),
    before: readNumber(query.get('before')),
    limit: readCount(query, 'limit', usualEntries, maxEntries),
  };
}

/** What is empty is as good as left out. */
function readText(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name) ?? '';
  if (text.length > maxLength)
    throw new HubError('bad-request', `${name}: expected at most ${maxLength} characters, got ${text.length}`);
  return text === '' ? undefined : text;
}

function readKind(text: string | null): AuditKind | undefined {
  if (text === null || text === '') return undefined;
  const kind = auditKinds.find((one) => one === text);
  if (kind === undefined)
    throw new HubError('bad-request', `kind: expected one of ${auditKinds.join(', ')}, got ${describe(text)}`);
  return kind;
}

function readNumber(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HubError('bad-request', `before: expected the number of an entry, got ${describe(text)}`);
}
