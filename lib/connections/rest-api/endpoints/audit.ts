// GET /hub/audit: changes from outside and operators' actions, newest first.

import { z } from 'zod';
import { auditKinds } from '../../../model/reports/audit-entry.ts';
import { auditPage } from '../../../wire/http/past-shapes.ts';
import type { AuditQuestion } from '../../persistence.ts';
import { readQuery } from '../input/parse-input.ts';
import { endOfTime, entryLimit, type PastContext, type PastRequest, pastPage, rangeShape, readRange } from './past.ts';

/** The maximum length of a search string, in characters. */
const maxLength = 200;

const shortText = z.string().refine((text) => text.length <= maxLength, {
  error: ({ input }) => `expected at most ${maxLength} characters, got ${(input as string).length}`,
});
const before = z
  .int({ error: 'the number of an entry' })
  .optional()
  .describe('Only entries before this number: `next` of an earlier answer');

/** Optional query parameters. An empty parameter counts as missing. */
const sought = {
  address: shortText.optional().describe('A glob for addresses, such as desk/*'),
  user: shortText.optional().describe('Part of the username, not case-sensitive'),
  kind: z
    .enum(auditKinds, { error: `one of ${auditKinds.join(', ')}` })
    .optional()
    .describe('Kind of entry'),
  text: shortText.optional().describe('Part of the address, the user, a value or the cause, not case-sensitive'),
};
const shape = z.object({ ...rangeShape('00000'), ...sought, limit: entryLimit, before });

export const endpoints = [
  pastPage({
    path: '/hub/audit',
    need: 'manage',
    id: 'readAudit',
    tag: 'past',
    summary: 'The audit trail: external changes and operator actions, newest first',
    query: shape,
    answer: auditPage,
    read: readAuditQuestion,
  }),
];

/** Parses the query for a page of the audit. Without `from` and `to`, the range covers all of time. Errors: `bad-request`. */
function readAuditQuestion(_: PastContext, { query }: PastRequest): AuditQuestion {
  for (const name of Object.keys(sought)) if (query.get(name) === '') query.delete(name);
  const asked = readQuery(shape, query);
  return { ask: 'audit', ...asked, ...readRange(asked, endOfTime) };
}
