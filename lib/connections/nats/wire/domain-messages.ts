// What hubs tell and ask one another, JSON in every direction. What comes from others is checked before it is used.

import { z } from 'zod';
import { isAddress } from '../../../model/address.ts';
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

/** A message is ended when it has grown this long: at the end of a turn, or of a value in a page that answers a walk. */
export const messageBytes = 200_000;
/** What is longer is neither sent nor read: NATS takes a megabyte. Other hubs then ask for a walk. */
export const maxMessageBytes = 900_000;
/** A character is three bytes at most, so a text that is not longer needs no count of its bytes. */
const maxCharacters = maxMessageBytes / 3;
/**
 * A turn, or parameters that come or go together, of more than so many are not taken over as they are told: the walk that a mirror then
 * asks for is taken in parts, so that nothing else waits for all of it.
 */
export const maxStep = 5000;
/** How many writes one request has at most: its owner does them in one turn. */
export const maxItems = 5000;

export function isTooLong(text: string): boolean {
  return text.length > maxMessageBytes || (text.length > maxCharacters && Buffer.byteLength(text) > maxMessageBytes);
}

/** How long a write waits for its answer. What its owner takes up later it does not write. */
export const writeTimeoutMs = 2000;

const count = z.custom<number>(isCount);
const name = z.custom<string>(isName);
const hub = z.custom<string>(isHubName);
const term = z.custom<number>(isTerm);

/** Which run of which hub tells something, in which term, up to which revision, and what its clock shows, as in `Told`. */
const head = { hub, epoch: name, term, rev: count, clock: count };

/** A number of the owner, address, type and access. */
export type Definition = readonly [number: number, address: string, type: ValueType, access: Access];

/** What stands in front of changes: who and when for all that follow, why and at which hop for the next alone. */
export interface Context {
  readonly by?: WireOrigin;
  readonly at?: number;
  /** Why: a change of this turn, by its place, or what led to it. */
  readonly why?: number | WireLinks;
  readonly hop?: number;
}

/** A turn: a number and a value for each change, with contexts in between. It is read by hand. */
export type WireTurn = readonly unknown[];

/** Parameters that have come, with their values, or that have gone. */
type WireStructure =
  | { readonly declared: readonly Definition[]; readonly changes: WireTurn }
  | { readonly withdrawn: readonly number[] };

/**
 * `{"hub":"west","epoch":"…","term":1,"structure":2,"clock":5000,"prev":3,"rev":9,"turns":[…]}`; a heartbeat has no turns, and the
 * same number twice. So may a message of parameters that come or go, which `structure` counts.
 */
export interface HubReport {
  readonly hub: string;
  readonly epoch: string;
  readonly term: number;
  readonly structure: number;
  /** What the monotonic clock of who tells it shows, in milliseconds. */
  readonly clock: number;
  readonly prev: number;
  readonly rev: number;
  readonly turns: readonly (WireTurn | WireStructure)[];
  /** The machine of who tells it; heartbeats have it. */
  readonly machine?: string | undefined;
}
const reportNumbers = ['structure', 'clock', 'prev', 'rev'] as const;

/** Asks the owner for definitions from a place on, or for what changed since a revision. */
export const walkRequest = z.union([
  z.strictObject({ from: count }),
  z.strictObject({ since: count, epoch: name, structure: count }),
]);
export type WalkRequest = z.output<typeof walkRequest>;

/**
 * Answers it: a page of definitions, and where the next one begins; or a page of values, the newest of each parameter, `to` which
 * revision it goes, and how often triggers have fired. Without any of these, what was asked for is not to be had: ask for
 * definitions.
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

/** How far a hub that stands by has come with what the one that runs has told; `null`: it has nothing yet. */
export const receipt = z.strictObject({ epoch: name, rev: count }).nullable();
export type Receipt = z.output<typeof receipt>;

/**
 * Asks the owner to write, as one turn. A run of a hub numbers its requests; the same number again is the same request, for as long as
 * the owner has not joined anew.
 */
export const writeRequest = z.strictObject({
  /** Who asks, where the subject does not say so; else that holds, whatever is said here. */
  hub: hub.optional(),
  run: z.string().max(64),
  number: count,
  /** Of the owner, when it was first asked. */
  epoch: name,
  /** When it was first asked, on the clock of the owner as it has been heard of, so it may show too little. */
  asked: count,
  /** What is restored is not asked for. */
  by: z.custom<WireOrigin>((by) => isWireOrigin(by) && by[0] !== 'restored'),
  hop: count,
  why: wireLinks,
  items: z.custom<readonly WireInput[]>(
    (items) => isListOf(isWireInput)(items) && items.length > 0 && items.length <= maxItems,
  ),
});
export type WriteRequest = z.output<typeof writeRequest>;

const errorCodes = Object.keys(errorCatalogue) as ErrorCode[];

/** For each item the value that it has become, or the code and the sentence of its error. */
export type WireResult = { readonly v: Value } | { readonly code: ErrorCode; readonly message: string };
export const writeAnswer = z.strictObject({ results: z.custom<readonly WireResult[]>(isListOf(isResult)) });
export type WriteAnswer = z.output<typeof writeAnswer>;

const decoder = new TextDecoder();

/** Reads a message. Errors: it is none, in a few words. */
export function read<Schema extends z.ZodType>(schema: Schema, data: Uint8Array): z.output<Schema> {
  const result = schema.safeParse(parse(data));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(`expected another shape at "${issue!.path.join('.')}"`);
}

/** Reads what an owner tells; its turns are looked at when they are taken over. By hand, as there are many. Errors: it is none. */
export function readHubReport(data: Uint8Array): HubReport {
  const report = parse(data) as HubReport;
  const isHubReport =
    isHubName(report.hub) &&
    isName(report.epoch) &&
    isTerm(report.term) &&
    reportNumbers.every((key) => isCount(report[key])) &&
    report.prev <= report.rev &&
    Array.isArray(report.turns) &&
    (report.machine === undefined || isName(report.machine));
  if (!isHubReport) throw new Error('expected whole turns of a hub');
  return report;
}

/** What is longer than hubs send is not even read: to parse it would hold up everything else. */
function parse(data: Uint8Array): unknown {
  if (data.length > maxMessageBytes) throw new Error(`expected at most ${maxMessageBytes} bytes, got ${data.length}`);
  expectShallow(data);
  return JSON.parse(decoder.decode(data));
}

const keysOfContext: ReadonlySet<string> = new Set(['by', 'at', 'why', 'hop'] satisfies (keyof Context)[]);

/** Reads what stands in front of changes. Errors: it is none. */
export function readContext(item: object | null): Context {
  for (const key in item) if (!keysOfContext.has(key)) throw new Error('expected by, at, why and hop of changes alone');
  const { by, at, why, hop } = (item ?? {}) as Context;
  const isContext =
    !Array.isArray(item) &&
    (by === undefined || isWireOrigin(by)) &&
    (at === undefined || isTime(at)) &&
    (why === undefined || isCount(why) || isWireLinks(why)) &&
    (hop === undefined || isCount(hop));
  if (!isContext) throw new Error('expected who wrote changes, when and why');
  return item as Context;
}

/** Reads parameters that come or go. Errors: it is none. */
export function readStructure(item: object): WireStructure {
  const { declared, changes, withdrawn, ...others } = item as Record<string, unknown>;
  const isStructure =
    Object.keys(others).length === 0 &&
    (withdrawn === undefined
      ? isListOf(isDefinition)(declared) && Array.isArray(changes)
      : isListOf(isCount)(withdrawn) && declared === undefined && changes === undefined);
  if (!isStructure) throw new Error('expected parameters that come with their values, or that go');
  return item as WireStructure;
}

/** How many parameters a turn, or what comes and goes together, is about at most. */
export function sizeOf(report: WireTurn | WireStructure): number {
  if (Array.isArray(report)) return report.length / 2;
  const { declared, changes, withdrawn } = report as Record<string, unknown>;
  return [declared, changes, withdrawn].reduce<number>((sum, one) => sum + (Array.isArray(one) ? one.length : 0), 0);
}

function isListOf<T>(isItem: (item: unknown) => item is T): (list: unknown) => list is readonly T[] {
  return (list): list is readonly T[] => Array.isArray(list) && list.every(isItem);
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

/** `[address, input]`; `[address, null, "[1,2] (array)"]`: the input is no value, and errors show it so. */
type WireInput = readonly [address: string, input: unknown, shown?: string | undefined];

/**
 * What is to be written, as hubs tell it to one another. A value goes as it is. Of anything else the owner gets what it needs to refuse it:
 * how an error shows it, since it may be no JSON, or too deep or too long for a message.
 */
export function encodeInput(address: string, input: unknown): WireInput {
  return isReportedAsItIs(input) ? [address, input] : [address, null, describe(input)];
}

/** What the owner converts in the place of the input: it refuses it in the same words. An infinite number, or none, is itself. */
export function readInput([, input, shown]: WireInput): unknown {
  if (shown === undefined) return input;
  return shown.endsWith(' (number)') ? Number.parseFloat(shown) : new Described(shown);
}

function isReportedAsItIs(input: unknown): boolean {
  if (typeof input === 'number') return Number.isFinite(input);
  return typeof input === 'string' || typeof input === 'boolean' || input === null;
}
