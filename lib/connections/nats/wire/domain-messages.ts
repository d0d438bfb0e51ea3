// The messages between hubs, which are always JSON. All received data is checked before it is used.

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

/** The length at which a message ends, in bytes: after the current turn or, for a page of a walk, after the current value. */
export const messageBytes = 200_000;
/**
 * The maximum length of a message, in bytes. NATS accepts a megabyte. A longer message is not sent, and other hubs request a walk instead.
 * A longer message that is received is not read.
 */
export const maxMessageBytes = 900_000;
/** The length up to which the bytes of a string need not be counted, in characters. A character takes at most three bytes. */
const maxCharacters = maxMessageBytes / 3;
/**
 * The maximum size of a turn, and of parameters that are added or removed together. A mirror does not apply a larger turn as sent. Instead,
 * it requests a walk and processes the walk in parts, so that other work does not have to wait for all of it.
 */
export const maxStep = 5000;
/** The maximum number of writes in a request. The owner performs all of these writes in one turn. */
export const maxItems = 5000;

export function isTooLong(text: string): boolean {
  return text.length > maxMessageBytes || (text.length > maxCharacters && Buffer.byteLength(text) > maxMessageBytes);
}

/** How long a write waits for its answer, in milliseconds. The owner does not execute requests that are older than this. */
export const writeTimeoutMs = 2000;

const count = z.custom<number>(isCount);
const name = z.custom<string>(isName);
const hub = z.custom<string>(isHubName);
const term = z.custom<number>(isTerm);

/**
 * The schemas of the properties that identify the sender of an answer: the run of a hub, and its term, revision and clock, as in
 * `HubReport`.
 */
const head = { hub, epoch: name, term, rev: count, clock: count };

/** The owner's number for a parameter, and the parameter's address, value type and access. */
export type Definition = readonly [number: number, address: string, type: ValueType, access: Access];

/** The context of changes. `by` and `at` apply to all following changes; `why` and `hop` apply only to the next change. */
export interface Context {
  readonly by?: WireOrigin;
  readonly at?: number;
  /** The cause: the index of a change in this turn, or a list of earlier changes. */
  readonly why?: number | WireLinks;
  readonly hop?: number;
}

/** A turn as a list: a number and a value for each change, with contexts in between. Turns are checked without a schema. */
export type WireTurn = readonly unknown[];

/** Added parameters with their values, or removed parameters. */
type WireStructure =
  | { readonly declared: readonly Definition[]; readonly changes: WireTurn }
  | { readonly withdrawn: readonly number[] };

/**
 * A report: `{"hub":"west","epoch":"…","term":1,"structure":2,"clock":5000,"prev":3,"rev":9,"turns":[…]}`. A heartbeat has no turns, and
 * its `prev` equals `rev`. The same applies to messages that only add or remove parameters; `structure` counts these changes.
 */
export interface HubReport {
  readonly hub: string;
  readonly epoch: string;
  readonly term: number;
  readonly structure: number;
  /** The time on the sender's monotonic clock, in milliseconds. */
  readonly clock: number;
  readonly prev: number;
  readonly rev: number;
  readonly turns: readonly (WireTurn | WireStructure)[];
  /** The identifier of the sender's machine, which heartbeats contain. */
  readonly machine?: string | undefined;
  /** All connections with an offline device, and the times for which the devices have been offline. Omitted if nothing has changed. */
  readonly stale?: readonly StaleConnection[] | undefined;
}

/** A connection with an offline device, and the time for which the device has been offline, in milliseconds. */
export type StaleConnection = readonly [connectionId: string, ageMs: number];
/** The maximum number of connections in `stale`. All other connections count as fresh. */
export const maxStaleConnections = 10_000;
const reportNumbers = ['structure', 'clock', 'prev', 'rev'] as const;

/** The schema of a request for definitions, starting at a number, or for the changes since a revision. */
export const walkRequest = z.union([
  z.strictObject({ from: count }),
  z.strictObject({ since: count, epoch: name, structure: count }),
]);
export type WalkRequest = z.output<typeof walkRequest>;

/**
 * The schema of the answer to a walk request. The answer contains a page of definitions and the beginning of the next page, or a page with
 * the latest value of each parameter, the revision up to which the page extends (`to`), and the numbers of firings of triggers. If all of
 * these are missing, the owner cannot answer, and the hub should request definitions.
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

/**
 * The schema of a receipt: the position up to which a standby has received the active hub's messages; `null` if the standby has received
 * nothing yet.
 */
export const receipt = z.strictObject({ epoch: name, rev: count }).nullable();
export type Receipt = z.output<typeof receipt>;

/**
 * The schema of a request that asks the owner to write values in one turn. Each run of a hub numbers its requests. The same number
 * identifies the same request, unless the owner has joined the domain again in the meantime.
 */
export const writeRequest = z.strictObject({
  /** The name of the requesting hub, for subjects without this name. If the subject contains the name, it takes precedence. */
  hub: hub.optional(),
  run: z.string().max(64),
  number: count,
  /** The owner's epoch at the time of the first attempt. */
  epoch: name,
  /** The time of the first attempt on the owner's clock, in milliseconds, as estimated by the sender. The estimate may be too low. */
  asked: count,
  /** The origin of the writes. Hubs never request writes that restore values. */
  by: z.custom<WireOrigin>((by) => isWireOrigin(by) && by[0] !== 'restored'),
  hop: count,
  why: wireLinks,
  items: z.custom<readonly WireInput[]>(
    (items) => isListOf(isWireInput)(items) && items.length > 0 && items.length <= maxItems,
  ),
});
export type WriteRequest = z.output<typeof writeRequest>;

const errorCodes = Object.keys(errorCatalogue) as ErrorCode[];

/** The result of a write: the converted value, or the code and message of the error. */
export type WireResult = { readonly v: Value } | { readonly code: ErrorCode; readonly message: string };
export const writeAnswer = z.strictObject({ results: z.custom<readonly WireResult[]>(isListOf(isResult)) });
export type WriteAnswer = z.output<typeof writeAnswer>;

const decoder = new TextDecoder();

/** Parses a message. Errors: `Error` with a short description of why the message is invalid. */
export function read<Schema extends z.ZodType>(schema: Schema, data: Uint8Array): z.output<Schema> {
  const result = schema.safeParse(parse(data));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(`unexpected format at "${issue!.path.join('.')}"`);
}

/**
 * Parses an owner's report. Reports are checked without a schema, because there are many reports. The turns in a report are checked when
 * they are applied. Errors: `Error` if the report is invalid.
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
  if (!isHubReport) throw new Error('expected a report from a hub');
  return report;
}

/**
 * Parses the JSON of a message. A message that is longer than any message that hubs send is rejected without being parsed, because parsing
 * would delay all other work.
 */
function parse(data: Uint8Array): unknown {
  if (data.length > maxMessageBytes) throw new Error(`expected at most ${maxMessageBytes} bytes, got ${data.length}`);
  expectShallow(data);
  return JSON.parse(decoder.decode(data));
}

const keysOfContext: ReadonlySet<string> = new Set(['by', 'at', 'why', 'hop'] satisfies (keyof Context)[]);

/** Parses the context of changes. Errors: `Error` if the context is invalid. */
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

/** Parses added or removed parameters. Errors: `Error` if the structural change is invalid. */
export function readStructure(item: object): WireStructure {
  const { declared, changes, withdrawn, ...others } = item as Record<string, unknown>;
  const isStructure =
    Object.keys(others).length === 0 &&
    (withdrawn === undefined
      ? isListOf(isDefinition)(declared) && Array.isArray(changes)
      : isListOf(isCount)(withdrawn) && declared === undefined && changes === undefined);
  if (!isStructure) throw new Error('expected added parameters with their values, or removed parameters');
  return item as WireStructure;
}

/** Returns an upper bound for the number of parameters in a turn or in a structural change. */
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

/**
 * The input of a write: `[address, input]`. An input that is not a value is sent as `[address, null, "[1,2] (array)"]`, with a description
 * for the error message.
 */
type WireInput = readonly [address: string, input: unknown, shown?: string | undefined];

/**
 * Encodes the input of a write. A value is sent unchanged. For any other input, the owner receives a description with which it rejects the
 * input, because the input itself might be impossible to represent in JSON, or too deep or too long for a message.
 */
export function encodeInput(address: string, input: unknown): WireInput {
  return isReportedAsItIs(input) ? [address, input] : [address, null, describe(input)];
}

/**
 * Returns the value that the owner converts in place of the input. If the input is invalid, this value is rejected with the same message.
 * Infinite numbers and NaN are restored.
 */
export function readInput([, input, shown]: WireInput): unknown {
  if (shown === undefined) return input;
  return shown.endsWith(' (number)') ? Number.parseFloat(shown) : new Described(shown);
}

function isReportedAsItIs(input: unknown): boolean {
  if (typeof input === 'number') return Number.isFinite(input);
  return typeof input === 'string' || typeof input === 'boolean' || input === null;
}
