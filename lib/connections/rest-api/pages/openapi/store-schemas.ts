// The schemas of what a store knows: what was, who did it, and what was saved.

import { auditKinds } from '../../../../model/reports/audit-entry.ts';
import type { Value } from '../../../../model/value.ts';
import type { AuditEntry, AuditPage } from '../../../../wire/http/past/audit.ts';
import type { EventList, HistoryCause, HistoryEvent } from '../../../../wire/http/past/events.ts';
import type { History, HistoryGap, HistoryList } from '../../../../wire/http/past/history.ts';
import type {
  SavedSnapshot,
  Snapshot,
  SnapshotList,
  SnapshotSelection,
  SnapshotValue,
} from '../../../../wire/http/past/snapshots.ts';
import type { StoreFile, StoreRows, StoreStatus } from '../../../../wire/http/past/store.ts';
import { describe, list, object, oneOf, type Schema, schema } from './schema.ts';
import { address, count, duration, flag, origin, text, time, value, valueType } from './words.ts';

export interface DescribedOfStore {
  readonly History: History;
  readonly Histories: HistoryList;
  readonly Events: EventList;
  readonly Audit: AuditPage;
  readonly Snapshots: SnapshotList;
  readonly Snapshot: Snapshot;
  readonly Store: StoreStatus;
}

const timeMs = schema<number>({ type: 'number', description: 'Milliseconds since 1970' });
const figures = list(schema<number | null>({ type: ['number', 'null'] }));
const yes = schema<true>({ const: true });

const history = object<History>(
  {
    address,
    type: valueType,
    from: timeMs,
    to: timeMs,
    kind: oneOf(['raw', 'intervals', 'texts', 'fires', 'buckets']),
    times: describe(list(timeMs), 'Of buckets their start; the first may lie before `from`'),
    gaps: describe(
      list(object<HistoryGap>({ from: timeMs, to: timeMs, lost: count, reason: text })),
      'When nothing was recorded',
    ),
  },
  {
    stepMs: describe(count, 'How long each bucket is'),
    values: describe(
      list(schema<Value | null>({ type: ['string', 'number', 'boolean', 'null'] })),
      'What held from then on; null: unknown',
    ),
    min: figures,
    mean: describe(figures, 'Each value weighed by how long it held; of booleans the share of true'),
    max: figures,
    counts: list(count),
    more: describe(yes, 'Only the newest texts are here'),
  },
);

const cause = object<HistoryCause>({ parameter: address, type: valueType, value, time, writer: origin });

export const storeSchemas: { readonly [Name in keyof DescribedOfStore]: Schema<DescribedOfStore[Name]> } = {
  History: history,
  Histories: object<HistoryList>(
    { histories: list(schema<History>({ $ref: '#/components/schemas/History' })) },
    { more: describe(yes, 'Ask again with `after`, the last address of this answer') },
  ),
  Events: object<EventList>(
    {
      address,
      type: valueType,
      events: describe(
        list(
          object<HistoryEvent>(
            {
              time,
              value,
              writer: origin,
              source: origin,
              chain: describe(list(cause), 'What led to it, newest first'),
            },
            { previous: value },
          ),
        ),
        'Newest first',
      ),
    },
    { next: describe(text, 'What to ask for `before` to get older ones') },
  ),
  Audit: object<AuditPage>(
    {
      entries: describe(
        list(
          object<AuditEntry>(
            { n: count, time, kind: oneOf(auditKinds), user: text, count: describe(count, 'How many are told as one') },
            { address: text, before: value, after: value, cause: text },
          ),
        ),
        'Newest first',
      ),
    },
    { next: describe(count, 'What to ask for `before` to get older ones') },
  ),
  Snapshots: object<SnapshotList>({
    connection: describe(text, 'The store, `<connection>/<name>/save` saves'),
    selections: list(
      object<SnapshotSelection>(
        {
          name: text,
          saved: list(
            object<SavedSnapshot>(
              { name: text, time },
              { parameters: describe(count, 'Left out for those who may not read all') },
            ),
          ),
        },
        { matches: describe(text, 'The one last saved or recalled, while a recall of it would write nothing') },
      ),
    ),
  }),
  Snapshot: object<Snapshot>({
    selection: text,
    name: text,
    time,
    values: describe(
      list(
        object<SnapshotValue>(
          { parameter: address, type: valueType, value, differs: describe(flag, 'Whether a recall writes it') },
          { present: value },
        ),
      ),
      'In the order in which they are recalled',
    ),
  }),
  Store: object<StoreStatus>({
    folder: text,
    maxBytes: describe(count, 'How much room the databases may take'),
    bytes: count,
    files: list(object<StoreFile>({ name: text, bytes: count })),
    rows: list(
      object<StoreRows>({
        part: oneOf(['values', 'history', 'audit']),
        perSecond: describe(duration, 'Rows written, over the last ten seconds'),
        lagMs: describe(duration, 'How old the oldest change is that is not on the disk yet'),
        lost: describe(count, 'Changes that were not recorded since the hub started'),
      }),
    ),
    oldest: object<StoreStatus['oldest']>({}, { history: time, audit: time }),
  }),
};
