// The settings of a store.
import { z } from 'zod';
import { readBy, record } from '../../model/record-schema.ts';
import { parseDurationMs, readLongDurationMs } from '../../model/time/duration.ts';
import { logBytes as auditLogBytes } from './audit/audit-tables.ts';
import type { HistoryRoom } from './history/history-messages.ts';
import type { HistoryRule } from './history/history-rules.ts';
import { maxSelections } from './snapshots/shelf.ts';

// The selection of addresses, which several parts share

const globs = z.array(z.string({ error: "a glob of addresses such as 'desk/**'" }), {
  error: "a list of globs of addresses, such as ['desk/**']",
});

/** The settings that select parameters: `{include: ['desk/**'], exclude: ['desk/scratch/*']}`. */
const selectionSettings = {
  include: globs
    .default(['**'])
    .describe('Globs for addresses: * matches any text within a segment, and ** matches any text'),
  exclude: globs.default([]).describe('Globs for addresses to leave out'),
};

// The settings of the audit.

const auditSetting = z
  .strictObject({ ...selectionSettings, keep: longDuration('90d').describe('How long entries are kept') })
  .prefault({})
  .describe('The parameters whose external changes are recorded, with their origins; default: all, for 90 days');

// The settings of the history.

const expectedEvery = "'change' or a duration of up to a minute, such as '1s'";
const expectedDeadband = 'a number, at least 0';
/** The maximum interval between recorded changes, in milliseconds: the length of a row of `minute`. */
const longestEveryMs = 60_000;

const entrySchema = z.strictObject({
  ...selectionSettings,
  every: readBy(
    z.union([z.string(), z.number()], { error: expectedEvery }).default('change'),
    expectedEvery,
    (input) => {
      if (input === 'change') return 0;
      const everyMs = parseDurationMs(input) ?? 0;
      return everyMs > 0 && everyMs <= longestEveryMs ? everyMs : undefined;
    },
  ).describe("'change': every change is recorded; '1s': the last one of each second"),
  deadband: z
    .number({ error: expectedDeadband })
    .min(0, { error: expectedDeadband })
    .default(0)
    .describe('A number is recorded once it differs from the last recorded number by at least this much'),
  raw: longDuration('10d', { mayBeNone: true }).describe(
    "How long each change is kept: '10d', 'forever'; '0': not at all",
  ),
  minutes: longDuration('1y', { mayBeNone: true }).describe(
    'How long the mean, minimum and maximum of each minute are kept',
  ),
  hours: longDuration('forever', { mayBeNone: true }).describe(
    'How long the mean, minimum and maximum of each hour are kept',
  ),
});

export const historySetting = z
  .array(entrySchema, { error: "a list such as [{ include: ['desk/**'], raw: '30d' }]" })
  .prefault([{}])
  .describe('The parameters to record. If several entries select a parameter, the first one applies');

export function rulesOf(entries: z.output<typeof historySetting>): HistoryRule[] {
  return entries.map(({ include, exclude, every, deadband, raw, minutes, hours }) => ({
    include,
    exclude,
    everyMs: every,
    deadband,
    rawMs: raw,
    minutesMs: minutes,
    hoursMs: hours,
  }));
}

// The setting for snapshots: selections of parameters, keyed by name.

const selectionName = z.string().regex(/^[a-z0-9-]{1,64}$/, { error: 'a name of 1 to 64 characters a-z, 0-9 and -' });

/** The selections by name: `{'studio-1': {include: ['s1/**']}}`. */
const snapshotSettings = record(selectionName, z.strictObject(selectionSettings))
  .refine((selections) => Object.keys(selections).length <= maxSelections, {
    error: `at most ${maxSelections} selections`,
  })
  .default({})
  .describe('Selections of parameters, by name. The values of a selection are saved and recalled together');

const unitBytes: Readonly<Record<string, number>> = { MB: 1_000_000, GB: 1_000_000_000, TB: 1_000_000_000_000 };
const sizePattern = /^(\d+(?:\.\d+)?)\s?(MB|GB|TB)$/;
const leastBytes = 16_000_000;
const expectedSize = "a size of at least 16MB, such as '500MB' or '2GB'";

export const settingsSchema = z.strictObject({
  folder: z
    .string({ error: 'the path of a folder' })
    .min(1, { error: 'the path of a folder' })
    .describe(
      "The folder for the databases, relative to the flow file's folder. The hub creates it if it does not exist",
    ),
  shared: z
    .boolean()
    .default(false)
    .describe('true: both hubs of a pair share this folder; only the active hub opens it'),
  values: z
    .strictObject(selectionSettings)
    .prefault({})
    .describe('The values that are restored after a restart of the hub; default: all that can be restored'),
  audit: auditSetting,
  history: historySetting,
  snapshots: snapshotSettings,
  maxSize: readBy(z.string({ error: expectedSize }).default('2GB'), expectedSize, readBytes).describe(
    "The maximum disk space of the databases: '500MB', '2GB'",
  ),
});

export type StoreSettings = z.output<typeof settingsSchema>;

function readBytes(text: string): number | undefined {
  const [, amount, unit] = sizePattern.exec(text) ?? [];
  if (amount === undefined) return undefined;
  const bytes = Number(amount) * unitBytes[unit!]!;
  return bytes >= leastBytes ? bytes : undefined;
}

// Retention times in settings.

/** Returns the schema of a retention time: `'90d'`, `'1y'` → milliseconds; `'forever'` → Infinity; with `mayBeNone`, `'0'` → 0. */
function longDuration(defaultText: string, { mayBeNone = false } = {}) {
  const expected = `a duration such as '90d' or '1y', or 'forever'${mayBeNone ? ", or '0'" : ''}`;
  return readBy(z.string({ error: expected }).default(defaultText), expected, (text) => {
    if (text === 'forever') return Number.POSITIVE_INFINITY;
    const durationMs = text === '0' ? 0 : readLongDurationMs(text);
    return durationMs !== undefined && (durationMs > 0 || mayBeNone) ? durationMs : undefined;
  });
}

// How the available disk space is divided: half for the history, a quarter each for the values and the audit.

interface Room {
  /** The maximum size of the database of values, in bytes. Its copy, a copy in progress and the log may each be just as large. */
  readonly valuesBytes: number;
  readonly history: HistoryRoom;
  /** The maximum size of the audit database, in bytes. Its copy and a copy in progress may each be just as large. */
  readonly auditBytes: number;
}

/** The maximum size of the history's write-ahead log, in bytes. */
const mostLogBytes = 32_000_000;
/** The space for lock files and for the index with which threads share a write-ahead log, in bytes. */
const spareBytes = 500_000;

export function roomOf(maxSize: number): Room {
  const historyBytes = maxSize / 2 - spareBytes;
  const logBytes = Math.floor(Math.min(historyBytes / 4, mostLogBytes));
  return {
    valuesBytes: Math.floor(maxSize / 4 / 5),
    auditBytes: Math.floor((maxSize / 4 - auditLogBytes) / 3),
    history: { databaseBytes: Math.floor(historyBytes - logBytes), logBytes },
  };
}
