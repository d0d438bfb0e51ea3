// The paths of the OpenAPI document that a store answers.

import { auditKinds } from '../../../../model/reports/audit-entry.ts';
import { maxEntries, maxListPoints, maxPoints, usualEntries, usualPoints } from '../../../../wire/http/limits.ts';
import { about, fresh, inPath, inQuery, json, notNow, problem, ref, refusals } from './parts.ts';

const moment = { type: 'string', default: 'now' };
const noStore = problem('There is no such parameter, and there was none; or the hub has no store');
const range = (defaultFrom: string) => [
  inQuery(
    'from',
    { type: 'string', default: defaultFrom },
    'ISO 8601, milliseconds since 1970, or -1h, -7d, -1y: so long before now',
  ),
  inQuery('to', moment, 'The same'),
];
const course = [
  ...range('-1h'),
  inQuery(
    'points',
    { type: 'integer', minimum: 1, maximum: maxPoints, default: usualPoints },
    'How many points at most, about',
  ),
  inQuery('format', { enum: ['json', 'csv'], default: 'json' }, 'As Accept: text/csv'),
];
const limit = inQuery(
  'limit',
  { type: 'integer', minimum: 1, maximum: maxEntries, default: usualEntries },
  'How many at most',
);
const searches = (name: string, description: string) =>
  inQuery(name, { type: 'array', items: { type: 'string' } }, description);

export const storePaths = {
  '/hub/audit': {
    get: {
      ...about('readAudit', 'past', 'Who did what from outside: changes, and what operators did; newest first'),
      parameters: [
        ...range('00000'),
        inQuery('address', { type: 'string' }, 'A glob of addresses, such as desk/*'),
        inQuery('user', { type: 'string' }, 'A part of the name of the user, however it is cased'),
        inQuery('kind', { enum: auditKinds }, 'What was done'),
        inQuery(
          'text',
          { type: 'string' },
          'A part of the address, the user, a value or the cause, however it is cased',
        ),
        limit,
        inQuery('before', { type: 'integer' }, 'Only older ones: `next` of an answer'),
      ],
      responses: ready('Audit', false),
    },
  },
  '/hub/backup': {
    get: {
      ...about(
        'backUp',
        'past',
        'An archive of the flow files, what they name, and the databases: at most one at a time',
      ),
      responses: {
        '200': { description: 'A tar', content: { 'application/x-tar': { schema: {} } } },
        ...refusals,
        '403': problem('A page of another site; without credentials, anybody but a program on the machine of the hub'),
        '404': problem('The hub has no store'),
        '409': problem('Another backup is being made'),
        '503': notNow('It cannot be made, such as for want of room'),
      },
    },
  },
  '/hub/events/{address}': {
    get: {
      ...about('listEvents', 'past', 'What happened to a parameter, who did it and why, newest first'),
      parameters: [
        inPath('address', 'Address of the parameter'),
        ...range('00000'),
        limit,
        inQuery('before', { type: 'string' }, 'Only older ones: `next` of an answer'),
      ],
      responses: ready('Events', false),
    },
  },
  '/hub/history': {
    get: {
      ...about(
        'listHistories',
        'past',
        `What several parameters were; together they have at most ${maxListPoints.toLocaleString('en')} points`,
      ),
      parameters: [
        searches('address', 'These parameters alone'),
        searches('filter', 'RE2 patterns, one of which the address matches'),
        inQuery('after', { type: 'string' }, 'Only those behind this address: the last one of an answer that had more'),
        ...course,
      ],
      responses: ready('Histories', true),
    },
  },
  '/hub/history/{address}': {
    get: {
      ...about('readHistory', 'past', 'What a parameter was'),
      parameters: [inPath('address', 'Address of the parameter'), ...course],
      responses: ready('History', true),
    },
  },
  '/hub/snapshots': {
    get: {
      ...about('listSnapshots', 'past', 'The snapshots that the store keeps, by selection'),
      responses: { ...fresh('Snapshots'), '404': problem('The hub has no store') },
    },
  },
  '/hub/snapshots/{selection}/{name}': {
    get: {
      ...about('compareSnapshot', 'past', 'A snapshot, every value beside the present one'),
      parameters: [inPath('selection', 'Name of the selection'), inPath('name', 'Name of the snapshot')],
      responses: { ...fresh('Snapshot'), '404': problem('There is no such snapshot, or the hub has no store') },
    },
  },
  '/hub/store': {
    get: {
      ...about('readStore', 'past', 'How much room the store takes, and how well it keeps up'),
      responses: { ...fresh('Store'), '404': problem('The hub has no store') },
    },
  },
};

/** An answer that the store makes. */
function ready(schema: string, isTable: boolean) {
  return {
    ...fresh(schema),
    ...(isTable && {
      '200': {
        description: 'As the records have it',
        headers: { ETag: { schema: { type: 'string' } } },
        content: { ...json(ref(schema)), 'text/csv': { schema: { type: 'string' } } },
      },
    }),
    '400': problem('A query that makes no sense'),
    '404': noStore,
    ...refusals,
    '503': notNow('Too many ask, it takes too long, or the records cannot be read; see Retry-After'),
  };
}
