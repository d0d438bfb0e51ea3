// The shapes for the records in the store (values, events, audit and snapshots), and for the state of the store.
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

/**
 * A period without a recording: `{"from":…,"to":…,"lost":0,"reason":"the hub was down"}`; `lost` is the known number of unrecorded changes.
 */
const historyGap = z.strictObject({ from: timeMs, to: timeMs, lost: count, reason: text });
export type HistoryGap = Shape<typeof historyGap>;

/**
 * What a history contains. raw: every number; intervals: every boolean; texts: every string; fires: the times at which a trigger fired, or
 * the number of firings in each bucket; buckets: min, mean and max of numbers and booleans.
 */
const historyKind = z.enum(['raw', 'intervals', 'texts', 'fires', 'buckets']);
const figures = z.array(z.number().nullable());

/**
 * The response to `GET /hub/history/desk/level`: `{"address":"desk/level","type":"F","from":…,"to":…,"kind":"raw","times":[…],…}`. Times
 * are in milliseconds rather than in ISO 8601, because a plot needs thousands of times.
 */
export const history = named(
  'History',
  z.strictObject({
    address,
    type: valueType,
    from: timeMs,
    to: timeMs,
    kind: historyKind,
    /**
     * The length of a bucket in milliseconds; omitted if there are no buckets. Buckets begin at multiples of this length; the first and the
     * last bucket may extend beyond the range.
     */
    stepMs: count.describe('The length of a bucket').optional(),
    /**
     * The times at which the values began or the trigger fired. The first time may be before `from`, if its value still applied at `from`.
     */
    times: z.array(timeMs).describe('For buckets, the start of the bucket; the first may lie before `from`'),
    /** The values at these times, for the kinds raw, intervals and texts. */
    values: z.array(valueOrNull).describe('The value from that time on; null: unknown').optional(),
    /** The figures of each bucket; null if no value was known. */
    min: figures.optional(),
    mean: figures
      .describe('Each value weighted by its duration; for booleans, the share of the time that the value was true')
      .optional(),
    max: figures.optional(),
    /** The number of changes or firings in each bucket. */
    counts: z.array(count).optional(),
    /** The gaps, oldest first. Within a gap, the value is unknown. */
    gaps: z.array(historyGap).describe('The periods without a recording'),
    more: yes.describe('true: the answer contains only the newest texts').optional(),
  }),
);
export type History = Shape<typeof history>;

/** The response to `GET /hub/history?filter=desk/`: the histories of the parameters whose addresses match the filter. */
export const historyList = named(
  'Histories',
  z.strictObject({
    histories: z.array(history),
    more: yes.describe('Send another request with `after`, the last address of this answer').optional(),
  }),
);
export type HistoryList = Shape<typeof historyList>;

/** A cause of an event: `{"parameter":"desk/mic","type":"B","value":true,"time":"2026-…","writer":{…}}`. */
const historyCause = z.strictObject({ parameter: address, type: valueType, value, time, writer: origin });
export type HistoryCause = Shape<typeof historyCause>;

/** An event of a parameter: `{"time":"2026-…","value":true,"previous":false,"writer":{…},"source":{…},"chain":[…]}`. */
const historyEvent = z.strictObject({
  time,
  /** The new value; 1 for a trigger. */
  value,
  /** The value before the change; omitted for a trigger, and if unknown. */
  previous: value.optional(),
  /** The writer of the change, such as a rule. */
  writer: origin,
  /** The writer of the change from outside that led to this change. */
  source: origin,
  /** The recorded causes of the change, at most 20. */
  chain: z.array(historyCause).describe('Its causes, newest first'),
});
export type HistoryEvent = Shape<typeof historyEvent>;

/** The response to `GET /hub/events/desk/lamp`: `{"address":"desk/lamp","type":"B","events":[…],"next":"1795…-7"}`. */
export const eventList = named(
  'Events',
  z.strictObject({
    address,
    type: valueType,
    events: z.array(historyEvent).describe('Newest first'),
    /** The position for the next query; omitted if there are no older events in the range. */
    next: text.describe('The value of `before` that returns older entries').optional(),
  }),
);
export type EventList = Shape<typeof eventList>;

/**
 * An audit entry: `{"n":9,"time":"2026-…","kind":"change","user":"api
 * 10.0.0.3","address":"desk/lamp","before":false,"after":true,"count":1}`.
 */
const auditEntry = z.strictObject({
  n: count,
  time,
  kind: z.enum(auditKinds),
  user: text,
  address: text.optional(),
  before: value.optional(),
  after: value.optional(),
  count: count.describe('Number of events that the entry represents'),
  cause: text.optional(),
});
export type AuditEntry = Shape<typeof auditEntry>;

/** The response to `GET /hub/audit?address=desk/*&limit=1`: `{"entries":[{"n":9,"time":"2026-…","kind":"change",…}],"next":9}`. */
export const auditPage = named(
  'Audit',
  z.strictObject({
    entries: z.array(auditEntry).describe('Newest first'),
    /** The position for the next query; omitted on the last page. */
    next: count.describe('The value of `before` that returns older entries').optional(),
  }),
);
export type AuditPage = Shape<typeof auditPage>;

const savedSnapshot = z.strictObject({
  name: text,
  time,
  parameters: count.describe('Omitted for users who may not read all of them').optional(),
});
export type SavedSnapshot = Shape<typeof savedSnapshot>;

/** A selection and its saved snapshots, which are saved and recalled through `<connection>/<name>/save` and `/recall`. */
const snapshotSelection = z.strictObject({
  name: text,
  /** The snapshots, newest first. */
  saved: z.array(savedSnapshot),
  matches: text.describe('The last saved or recalled snapshot, if recalling it would write nothing').optional(),
});
export type SnapshotSelection = Shape<typeof snapshotSelection>;

/**
 * The response to `GET /hub/snapshots`:
 * `{"connection":"store","selections":[{"name":"studio-1","saved":[{"name":"evening",…}],"matches":"evening"}]}`.
 */
export const snapshotList = named(
  'Snapshots',
  z.strictObject({
    connection: text.describe('The store; `<connection>/<name>/save` saves a snapshot'),
    /** The selections in the order of the store's settings. */
    selections: z.array(snapshotSelection),
  }),
);
export type SnapshotList = Shape<typeof snapshotList>;

/** A value in a snapshot: `{"parameter":"desk/lamp","type":"B","value":true,"present":false,"differs":true}`. */
const snapshotValue = z.strictObject({
  parameter: address,
  type: valueType,
  value,
  /** The current value; omitted if unknown, or if the parameter no longer exists. */
  present: value.optional(),
  differs: flag.describe('Whether a recall would write it'),
});

/** The response to `GET /hub/snapshots/studio-1/evening`: `{"selection":"studio-1","name":"evening","time":"2026-…","values":[…]}`. */
export const snapshot = named(
  'Snapshot',
  z.strictObject({
    selection: text,
    name: text,
    time,
    /** The values in the snapshot; values that a recall would not write are at the end. */
    values: z.array(snapshotValue).describe('In the order in which they are recalled'),
  }),
);
export type Snapshot = Shape<typeof snapshot>;

const storeFile = z.strictObject({ name: text, bytes: count });
export type StoreFile = Shape<typeof storeFile>;

const storePart = z.enum(['values', 'history', 'audit']);
export type StorePart = z.output<typeof storePart>;

/**
 * The response to `GET /hub/store`: `{"folder":"/srv/data","maxBytes":2000000000,"bytes":…,"files":[{"name":"values.db","bytes":…}],…}`.
 */
export const storeStatus = named(
  'Store',
  z.strictObject({
    /** The path of the folder; `***` if the setting comes from the environment or a file. */
    folder: text,
    maxBytes: count.describe('Maximum disk space of the databases'),
    /** The total size of all files in the folder, in bytes. */
    bytes: count,
    files: z.array(storeFile),
    rows: z.array(
      z.strictObject({
        part: storePart,
        perSecond: duration.describe('Rows written per second, over the last ten seconds'),
        lagMs: duration.describe('The age of the oldest change that is not on disk yet'),
        lost: count.describe('Changes that were not recorded since the hub started'),
      }),
    ),
    /** The time of the oldest record of each kind; omitted if nothing is recorded. */
    oldest: z.strictObject({ history: time.optional(), audit: time.optional() }),
  }),
);
export type StoreStatus = Shape<typeof storeStatus>;
