// What was, as far as the store knows: of parameters, of what people did, of what was saved; and how the store is.
import { z } from 'zod';
import { auditKinds } from '../../model/reports/audit-entry.ts';
import {
  address,
  count,
  duration,
  flag,
  named,
  origin,
  type Shape,
  text,
  time,
  timeMs,
  value,
  valueOrNull,
  valueType,
  yes,
} from './shape.ts';

/** `{"from":…,"to":…,"lost":0,"reason":"the hub was down"}`; `lost`: how many changes were not recorded, as far as is known. */
const historyGap = z.strictObject({ from: timeMs, to: timeMs, lost: count, reason: text });
export type HistoryGap = Shape<typeof historyGap>;

/**
 * raw: numbers as they were; intervals: booleans as they were; texts; fires: when a trigger fired, or how often in each bucket; buckets:
 * min, mean and max of numbers and booleans.
 */
const historyKind = z.enum(['raw', 'intervals', 'texts', 'fires', 'buckets']);
const figures = z.array(z.number().nullable());

/**
 * `GET /hub/history/desk/level` answers with `{"address":"desk/level","type":"F","from":…,"to":…,"kind":"raw","times":[…],…}`. Its columns
 * are numbers, and its times are too: a plot wants numbers, and has thousands of them.
 */
export const history = named(
  'History',
  z.strictObject({
    address,
    type: valueType,
    from: timeMs,
    to: timeMs,
    kind: historyKind,
    /** Left out where there are none. Buckets begin at multiples of it, and the first and the last may reach beyond the range. */
    stepMs: count.describe('How long each bucket is').optional(),
    /** When each value began or each trigger fired. The first may lie before `from`: it is the value that held then. */
    times: z.array(timeMs).describe('Of buckets their start; the first may lie before `from`'),
    /** Of raw values, intervals and texts. */
    values: z.array(valueOrNull).describe('What held from then on; null: unknown').optional(),
    /** Of buckets; null: nothing was known. */
    min: figures.optional(),
    mean: figures.describe('Each value weighed by how long it held; of booleans the share of true').optional(),
    max: figures.optional(),
    /** Of buckets: how many changes or fires there were. */
    counts: z.array(count).optional(),
    /** Oldest first. What held before a gap is unknown within it. */
    gaps: z.array(historyGap).describe('When nothing was recorded'),
    more: yes.describe('Only the newest texts are here').optional(),
  }),
);
export type History = Shape<typeof history>;

/** `GET /hub/history?filter=desk/` answers with the histories of the parameters whose address matches. */
export const historyList = named(
  'Histories',
  z.strictObject({
    histories: z.array(history),
    more: yes.describe('Ask again with `after`, the last address of this answer').optional(),
  }),
);
export type HistoryList = Shape<typeof historyList>;

/** `{"parameter":"desk/mic","type":"B","value":true,"time":"2026-…","writer":{…}}`. */
const historyCause = z.strictObject({ parameter: address, type: valueType, value, time, writer: origin });
export type HistoryCause = Shape<typeof historyCause>;

/** `{"time":"2026-…","value":true,"previous":false,"writer":{…},"source":{…},"chain":[…]}`. */
const historyEvent = z.strictObject({
  time,
  /** Of a trigger 1. */
  value,
  /** Left out of a trigger, and when it is not known. */
  previous: value.optional(),
  /** What wrote it: a rule. */
  writer: origin,
  /** Who did it: what wrote the change that began it all. */
  source: origin,
  /** As far as it was recorded, at most 20. */
  chain: z.array(historyCause).describe('What led to it, newest first'),
});
export type HistoryEvent = Shape<typeof historyEvent>;

/** `GET /hub/events/desk/lamp` answers with `{"address":"desk/lamp","type":"B","events":[…],"next":"1795…-7"}`. */
export const eventList = named(
  'Events',
  z.strictObject({
    address,
    type: valueType,
    events: z.array(historyEvent).describe('Newest first'),
    /** Left out: there are no older ones in the range. */
    next: text.describe('What to ask for `before` to get older ones').optional(),
  }),
);
export type EventList = Shape<typeof eventList>;

/** `{"n":9,"time":"2026-…","kind":"change","user":"api 10.0.0.3","address":"desk/lamp","before":false,"after":true,"count":1}` */
const auditEntry = z.strictObject({
  n: count,
  time,
  kind: z.enum(auditKinds),
  user: text,
  address: text.optional(),
  before: value.optional(),
  after: value.optional(),
  count: count.describe('How many are told as one'),
  cause: text.optional(),
});
export type AuditEntry = Shape<typeof auditEntry>;

/** `GET /hub/audit?address=desk/*&limit=1` answers with `{"entries":[{"n":9,"time":"2026-…","kind":"change",…}],"next":9}`. */
export const auditPage = named(
  'Audit',
  z.strictObject({
    entries: z.array(auditEntry).describe('Newest first'),
    /** Left out of the last page. */
    next: count.describe('What to ask for `before` to get older ones').optional(),
  }),
);
export type AuditPage = Shape<typeof auditPage>;

const savedSnapshot = z.strictObject({
  name: text,
  time,
  parameters: count.describe('Left out for those who may not read all').optional(),
});
export type SavedSnapshot = Shape<typeof savedSnapshot>;

/** Snapshots are saved and recalled by `<connection>/<name>/save` and `/recall`. */
const snapshotSelection = z.strictObject({
  name: text,
  /** The newest first. */
  saved: z.array(savedSnapshot),
  matches: text.describe('The one last saved or recalled, while a recall of it would write nothing').optional(),
});
export type SnapshotSelection = Shape<typeof snapshotSelection>;

/** `GET /hub/snapshots` answers with `{"connection":"store","selections":[{"name":"studio-1","saved":[{"name":"evening",…}],"matches":"evening"}]}`. */
export const snapshotList = named(
  'Snapshots',
  z.strictObject({
    connection: text.describe('The store, `<connection>/<name>/save` saves'),
    /** In the order of the settings of the store. */
    selections: z.array(snapshotSelection),
  }),
);
export type SnapshotList = Shape<typeof snapshotList>;

/** `{"parameter":"desk/lamp","type":"B","value":true,"present":false,"differs":true}`. */
const snapshotValue = z.strictObject({
  parameter: address,
  type: valueType,
  value,
  /** Left out while the state is unknown, and when there is no such parameter any more. */
  present: value.optional(),
  differs: flag.describe('Whether a recall writes it'),
});

/** `GET /hub/snapshots/studio-1/evening` answers with `{"selection":"studio-1","name":"evening","time":"2026-…","values":[…]}`. */
export const snapshot = named(
  'Snapshot',
  z.strictObject({
    selection: text,
    name: text,
    time,
    /** Last those that no recall writes. */
    values: z.array(snapshotValue).describe('In the order in which they are recalled'),
  }),
);
export type Snapshot = Shape<typeof snapshot>;

const storeFile = z.strictObject({ name: text, bytes: count });
export type StoreFile = Shape<typeof storeFile>;

const storePart = z.enum(['values', 'history', 'audit']);
export type StorePart = z.output<typeof storePart>;

/** `GET /hub/store` answers with `{"folder":"/srv/data","maxBytes":2000000000,"bytes":…,"files":[{"name":"values.db","bytes":…}],…}`. */
export const storeStatus = named(
  'Store',
  z.strictObject({
    /** `***` where the setting comes from the environment or a file. */
    folder: text,
    maxBytes: count.describe('How much room the databases may take'),
    /** All files of the folder together. */
    bytes: count,
    files: z.array(storeFile),
    rows: z.array(
      z.strictObject({
        part: storePart,
        perSecond: duration.describe('Rows written, over the last ten seconds'),
        lagMs: duration.describe('How old the oldest change is that is not on the disk yet'),
        lost: count.describe('Changes that were not recorded since the hub started'),
      }),
    ),
    /** How far back it reaches; left out where nothing is recorded. */
    oldest: z.strictObject({ history: time.optional(), audit: time.optional() }),
  }),
);
export type StoreStatus = Shape<typeof storeStatus>;
