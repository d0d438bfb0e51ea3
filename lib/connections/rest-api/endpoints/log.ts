// GET /hub/log: the entries of the log, page by page.

import { z } from 'zod';
import { keptEntries, logLevels } from '../../../model/reports/log-entry.ts';
import { type LogPage, logPage } from '../../../wire/http/operation.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import { readQuery } from '../input/parse-input.ts';
import { page } from './endpoint.ts';

const shape = z.object({
  after: z
    .int({ error: 'the number of an entry' })
    .min(0)
    .default(0)
    .describe('Only entries after this number: `next` of an earlier answer'),
  level: z
    .enum(logLevels, { error: `one of ${logLevels.join(', ')}` })
    .default('debug')
    .describe('Lowest level'),
});

export const endpoints = [
  page({
    path: '/hub/log',
    need: 'manage',
    id: 'readLog',
    tag: 'operation',
    summary: `The newest ${keptEntries.toLocaleString('en')} entries of the log`,
    query: shape,
    answer: logPage,
    errors: { 400: 'The query is not valid' },
    // The entries of earlier runs may have to be loaded first.
    read: ({ hub }, { query }) => hub.earlierLog()?.then(() => logOf(hub, query)) ?? logOf(hub, query),
  }),
];

/** The length of the messages at which an answer ends, in characters. The client requests the rest with `next`. */
const maxLogLength = 256 * 1024;

/** Returns the page of the log that a query such as `?after=7&level=warn` requests. Errors: `bad-request`. */
export function logOf(hub: HubPort, query: string): LogPage {
  const { after, level } = readQuery(shape, new URLSearchParams(query));
  const { entries, next, count } = hub.log(after, level);
  const length = countOf(entries);
  return {
    entries: entries.slice(0, length).map(({ time, ...entry }) => ({ ...entry, time: toIsoTime(time) })),
    next: length < entries.length ? entries[length - 1]!.n : next,
    count,
  };
}

/** Returns how many of the log entries one answer contains. Its last message may exceed `maxLogLength`. */
function countOf(entries: readonly { readonly message: string }[]): number {
  let length = 0;
  for (const [index, { message }] of entries.entries()) {
    length += message.length;
    if (length > maxLogLength) return index + 1;
  }
  return entries.length;
}
