// The messages between hubs, always in JSON. All received data is checked before use.

import { z } from 'zod';
import { connectionIdMistake, isAddress } from '../../../model/address.ts';
import { Described, describe, type ErrorCode, errorCatalogue } from '../../../model/error.ts';
import type { Access } from '../../../model/parameter.ts';
import { isTime } from '../../../model/time/iso-time.ts';
import { maxTextLength, type Value, type ValueType } from '../../../model/value.ts';
import { maxTerm } from '../lease/lease-record.ts';
import {
  isCount,
  isHubName,
  isName,
  isValueType,
  isWireLinks,
  isWireOrigin,
  type WireLinks,
  type WireOrigin,
  wireLinks,
} from './causes.ts';
import { expectShallow } from './shallow.ts';

/** A message that reaches this length ends after the current turn, or after the current value in a page of a walk. */
export const messageBytes = 200_000;
/** Longer messages are neither sent nor read: NATS accepts a megabyte. Other hubs then request a walk. */
export const maxMessageBytes = 900_000;
/** A character takes at most three bytes, so the bytes of shorter text do not have to be counted. */
const maxCharacters = maxMessageBytes / 3;
/**
 * The maximum size of one turn, or of parameters that are added or removed together. A mirror does not apply a larger one as sent, but
 * requests a walk and processes it in parts, so that nothing else has to wait for all of it.
 */
export const maxStep = 5000;
/** The maximum number of writes in a request. The owner makes them in one turn. */
export const maxItems = 5000;

export function isTooLong(text: string): boolean {
  return text.length > maxMessageBytes || (text.length > maxCharacters && Buffer.byteLength(text) > maxMessageBytes);
}

/** The time for which a write waits for its answer. The owner does not execute older requests. */
export const writeTimeoutMs = 2000;

const count = z.custom<number>(isCount);
const name = z.custom<string>(isName);
const hub = z.custom<string>(isHubName);
const term = z.custom<number>(isTerm);

/** The sender of an answer: the run of a hub, its term, revision and clock, as in `HubReport`. */
const head = { hub, epoch: name, term, rev: count, clock: count };

/** The owner's number for a parameter, its address, type and access. */
export type Definition = readonly [number: number, address: string, type: ValueType, access: Access];

/** The context of changes: `by` and `at` apply to all following changes, `why` and `hop` only to the next one. */
export interface Context {
  readonly by?: WireOrigin;
  readonly at?: number;
  /** The cause: the position of a change in this turn, or earlier changes. */
  readonly why?: number | WireLinks;
  readonly hop?: number;
}

/** A turn: a number and a value for each change, with contexts in between. Checked by hand. */
export type WireTurn = readonly unknown[];

/** Added parameters with their values, or removed ones. */
type WireStructure =
  | { readonly declared: readonly Definition[]; readonly changes: WireTurn }
  | { readonly withdrawn: readonly number[] };

/**
 * For example `{"hub":"west","epoch":"…","term":1,"structure":2,"clock":5000,"prev":3,"rev":9,"turns":[…]}`. A heartbeat has no turns, and
 * `prev` equals `rev`. This also applies to messages that only add or remove parameters, which `structure` counts.
 */
export interface HubReport {
  readonly hub: string;
  readonly epoch: string;
  readonly term: number;
  readonly structure: number;
  /** The monotonic clock of the sender, in milliseconds. */
  readonly clock: number;
  readonly prev: number;
  readonly rev: number;
  readonly turns: readonly (WireTurn | WireStructure)[];
  /** The machine of the sender; included in heartbeats. */
  readonly machine?: string | undefined;
  /** All connections with an offline device, and how long it has been offline; omitted: unchanged. */
  readonly stale?: readonly StaleConnection[] | undefined;
}

/** A connection with an offline device, and for how many milliseconds it has been offline. */
export type StaleConnection = readonly [connectionId: string, ageMs: number];
/** The maximum number of connections in `stale`; the rest counts as fresh. */
export const maxStaleConnections = 10_000;
const reportNumbers = ['structure', 'clock', 'prev', 'rev'] as const;

/** Requests definitions from a number on, or the changes since a revision. */
export const walkRequest = z.union([
  z.strictObject({ from: count }),
  z.strictObject({ since: count, epoch: name, structure: count }),
]);
export type WalkRequest = z.output<typeof walkRequest>;

/**
 * The answer: a page of definitions, and where the next one begins; or a page with the newest value of each parameter, the revision up to
 * which it extends (`to`), and how often triggers have fired. If all of these are missing, the owner cannot answer: request definitions.
 */
export const walkAnswer = z.strictObject({
  ...head,
  structure: count,
  definitions: z.custom<readonly Definition[]>(isListOf(isDefinition)).optional(),
  next: count.optional(),
  changes: z.custom<WireTurn>(Array.isArray).optional(),
  to: count.optional(),
  fires: z.custom<readonly number[]>(isListOf(isCount)).optional(),
});
export type WalkAnswer = z.output<typeof walkAnswer>;

/** The position up to which a standby has received the messages of the active hub; `null`: it has received nothing yet. */
export const receipt = z.strictObject({ epoch: name, rev: count }).nullable();
export type Receipt = z.output<typeof receipt>;

/**
 * Requests that the owner writes values, as one turn. Each run of a hub numbers its requests. The same number identifies the same request,
 * as long as the owner has not rejoined.
 */
export const writeRequest = z.strictObject({
  /** The requesting hub, for subjects that do not contain it; the subject takes precedence. */
  hub: hub.optional(),
  run: z.string().max(64),
  number: count,
  /** The epoch of the owner at the first attempt. */
  epoch: name,
  /** The time of the first attempt on the owner's clock, as known to the sender, so it may be too low. */
  asked: count,
  /** Restored values are never requested. */
  by: z.custom<WireOrigin>((by) => isWireOrigin(by) && by[0] !== 'restored'),
  hop: count,
  why: wireLinks,
  items: z.custom<readonly WireInput[]>(
    (items) => isListOf(isWireInput)(items) && items.length > 0 && items.length <= maxItems,
  ),
});
export type WriteRequest = z.output<typeof writeRequest>;

const errorCodes = Object.keys(errorCatalogue) as ErrorCode[];

/** For each item, the converted value or the code and message of its error. */
export type WireResult = { readonly v: Value } | { readonly code: ErrorCode; readonly message: string };
export const writeAnswer = z.strictObject({ results: z.custom<readonly WireResult[]>(isListOf(isResult)) });
export type WriteAnswer = z.output<typeof writeAnswer>;

const decoder = new TextDecoder();

/** Reads a message. Errors: the reason why it is invalid, in a few words. */
export function read<Schema extends z.ZodType>(schema: Schema, data: Uint8Array): z.output<Schema> {
  const result = schema.safeParse(parse(data));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(`unexpected format at "${issue!.path.join('.')}"`);
}

/**
 * Reads the report of an owner. Its turns are checked when they are applied. Checked by hand, because there are many. Throws if it is
 * invalid.
 */
export function readHubReport(data: Uint8Array): HubReport {
  const report = parse(data) as HubReport;
  const isHubReport =
    isHubName(report.hub) &&
    isName(report.epoch) &&
    isTerm(report.term) &&
    reportNumbers.every((key) => isCount(report[key])) &&
    report.prev <= report.rev &&
    Array.isArray(report.turns) &&
    (report.machine === undefined || isName(report.machine)) &&
    (report.stale === undefined || areStale(report.stale));
  if (!isHubReport) throw new Error('expected a report of a hub');
  return report;
}

/** Parses a message. Rejects a message longer than hubs send without parsing it, because parsing would delay everything else. */
function parse(data: Uint8Array): unknown {
  if (data.length > maxMessageBytes) throw new Error(`expected at most ${maxMessageBytes} bytes, got ${data.length}`);
  expectShallow(data);
  return JSON.parse(decoder.decode(data));
}

const keysOfContext: ReadonlySet<string> = new Set(['by', 'at', 'why', 'hop'] satisfies (keyof Context)[]);

/** Reads the context of changes. Throws if it is invalid. */
export function readContext(item: object | null): Context {
  for (const key in item)
    if (!keysOfContext.has(key)) throw new Error('expected no keys in a context except "by", "at", "why" and "hop"');
  const { by, at, why, hop } = (item ?? {}) as Context;
  const isContext =
    !Array.isArray(item) &&
    (by === undefined || isWireOrigin(by)) &&
    (at === undefined || isTime(at)) &&
    (why === undefined || isCount(why) || isWireLinks(why)) &&
    (hop === undefined || isCount(hop));
  if (!isContext) throw new Error('expected the writer, time and cause of changes');
  return item as Context;
}

/** Reads added or removed parameters. Throws if they are invalid. */
export function readStructure(item: object): WireStructure {
  const { declared, changes, withdrawn, ...others } = item as Record<string, unknown>;
  const isStructure =
    Object.keys(others).length === 0 &&
    (withdrawn === undefined
      ? isListOf(isDefinition)(declared) && Array.isArray(changes)
      : isListOf(isCount)(withdrawn) && declared === undefined && changes === undefined);
  if (!isStructure) throw new Error('expected added parameters with their values, or removed ones');
  return item as WireStructure;
}

/** Returns an upper bound of the parameters in a turn or in a structural change. */
export function sizeOf(report: WireTurn | WireStructure): number {
  if (Array.isArray(report)) return report.length / 2;
  const { declared, changes, withdrawn } = report as Record<string, unknown>;
  return [declared, changes, withdrawn].reduce<number>((sum, one) => sum + (Array.isArray(one) ? one.length : 0), 0);
}

function isListOf<T>(isItem: (item: unknown) => item is T): (list: unknown) => list is readonly T[] {
  return (list): list is readonly T[] => Array.isArray(list) && list.every(isItem);
}

function areStale(list: unknown): boolean {
  return isListOf(isStaleConnection)(list) && list.length <= maxStaleConnections;
}

function isStaleConnection(item: unknown): item is StaleConnection {
  if (!Array.isArray(item) || item.length !== 2) return false;
  const [id, ageMs] = item;
  return typeof id === 'string' && connectionIdMistake(id) === undefined && isCount(ageMs);
}

function isTerm(term: unknown): term is number {
  return isCount(term) && term <= maxTerm;
}

const accesses: readonly unknown[] = ['read-only', 'write-only', 'read-write'] satisfies Access[];

function isDefinition(item: unknown): item is Definition {
  if (!Array.isArray(item) || item.length !== 4) return false;
  const [number, address, type, access] = item;
  return isCount(number) && isAddress(address) && isValueType(type) && accesses.includes(access);
}

function isWireInput(item: unknown): item is WireInput {
  if (!Array.isArray(item) || item.length < 2 || item.length > 3) return false;
  const [address, , shown] = item;
  return isAddress(address) && (shown === undefined || isName(shown));
}

function isResult(result: unknown): result is WireResult {
  if (typeof result !== 'object' || result === null) return false;
  const { v, code, message, ...others } = result as Record<string, unknown>;
  if (Object.keys(others).length > 0) return false;
  if (v !== undefined) return code === undefined && message === undefined && isScalar(v);
  return errorCodes.includes(code as ErrorCode) && isName(message);
}

function isScalar(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= maxTextLength;
  return typeof value === 'boolean' || Number.isFinite(value);
}

/** `[address, input]`, or `[address, null, "[1,2] (array)"]` for an input that is not a value, with the description for errors. */
type WireInput = readonly [address: string, input: unknown, shown?: string | undefined];

/**
 * Encodes the input of a write. A value is sent unchanged. For any other input, the owner gets the description that it needs to reject it,
 * because the input may not be JSON, or may be too deep or too long for a message.
 */
export function encodeInput(address: string, input: unknown): WireInput {
  return isReportedAsItIs(input) ? [address, input] : [address, null, describe(input)];
}

/**
 * Returns the value that the owner converts instead of the input, and rejects with the same message. Infinite numbers and NaN are restored.
 */
export function readInput([, input, shown]: WireInput): unknown {
  if (shown === undefined) return input;
  return shown.endsWith(' (number)') ? Number.parseFloat(shown) : new Described(shown);
}

function isReportedAsItIs(input: unknown): boolean {
  if (typeof input === 'number') return Number.isFinite(input);
  return typeof input === 'string' || typeof input === 'boolean' || input === null;
}
