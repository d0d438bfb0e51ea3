// GET /hub/audit: who did what, newest first.

import { z } from 'zod';
import { describe, HubError } from '../../../model/error.ts';
import { type AuditKind, auditKinds } from '../../../model/reports/audit-entry.ts';
import { maxEntries, usualEntries } from '../../../wire/http/http-limits.ts';
import { auditPage } from '../../../wire/http/past-shapes.ts';
import { text } from '../../../wire/http/shape.ts';
import type { AuditQuestion } from '../../keeping.ts';
import { readCount } from '../http/request-url.ts';
import { endOfTime, entryLimit, type PastContext, type PastRequest, pastPage, rangeShape, readRange } from './past.ts';

export const endpoints = [
  pastPage({
    path: '/hub/audit',
    need: 'manage',
    id: 'readAudit',
    tag: 'past',
    summary: 'Who did what from outside: changes, and what operators did; newest first',
    query: z.object({
      ...rangeShape('00000'),
      address: text.optional().describe('A glob of addresses, such as desk/*'),
      user: text.optional().describe('A part of the name of the user, however it is cased'),
      kind: z.enum(auditKinds).optional().describe('What was done'),
      text: text.optional().describe('A part of the address, the user, a value or the cause, however it is cased'),
      limit: entryLimit,
      before: z.int().optional().describe('Only older ones: `next` of an answer'),
    }),
    answer: auditPage,
    read: readAuditQuestion,
  }),
];

/** Longer texts are not looked for. */
const maxLength = 200;

/** Left out, `from` and `to` are the beginning and the end of all time. Errors: `bad-request`. */
function readAuditQuestion(_: PastContext, { query }: PastRequest): AuditQuestion {
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
