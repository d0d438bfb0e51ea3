// What hubs tell and ask one another, JSON in every direction. What comes from others is checked before it is used.

import { z } from 'zod';
import { type ErrorCode, errorCatalogue } from '../../../model/error.ts';
import { valueTypes } from '../../../model/value.ts';
import { isName, isTime, isToldOrigin, name, time, toldLinks, toldOrigin } from './causes.ts';

/** A message is ended when it has grown this long: at the end of a turn, or of a value in a page that answers a walk. */
export const messageBytes = 200_000;
/** What is longer is not sent: NATS takes a megabyte. Other hubs then ask for a walk. */
export const maxMessageBytes = 900_000;
/** A character is three bytes at most, so a text that is not longer needs no count of its bytes. */
const maxCharacters = maxMessageBytes / 3;

export function isTooLong(text: string): boolean {
  return text.length > maxMessageBytes || (text.length > maxCharacters && Buffer.byteLength(text) > maxMessageBytes);
}

/** How long a write waits for its answer. What its owner takes up later it does not write. */
export const writeTimeoutMs = 2000;

const count = z.int().min(0);

/** Which run of which hub tells something, in which term, up to which revision, and what its clock shows, as in `Told`. */
const head = { hub: name, epoch: name, term: count, rev: count, clock: count };

/** A number of the owner, address, type and access. */
export const definition = z.tuple([count, name, z.enum(valueTypes), z.enum(['read-only', 'write-only', 'read-write'])]);
export type Definition = z.output<typeof definition>;

/** What stands in front of changes: who and when for all that follow, why and at which hop for the next alone. */
const context = z.strictObject({
  by: toldOrigin.optional(),
  at: time.optional(),
  /** Why: a change of this turn, by its place, or what led to it. */
  why: z.union([count, toldLinks]).optional(),
  hop: count.optional(),
});
export type Context = z.output<typeof context>;

/** A turn: a number and a value for each change, with contexts in between. It is read by hand. */
export type ToldTurn = readonly unknown[];

/** Parameters that have come, with their values, or that have gone. */
const structure = z.union([
  z.strictObject({ declared: z.array(definition), changes: z.array(z.unknown()) }),
  z.strictObject({ withdrawn: z.array(count) }),
]);
export type ToldStructure = z.output<typeof structure>;

/**
 * `{"hub":"west","epoch":"…","term":1,"structure":2,"clock":5000,"prev":3,"rev":9,"turns":[…]}`; a heartbeat has no turns, and the
 * same number twice. So may a message of parameters that come or go, which `structure` counts.
 */
export interface Told {
  readonly hub: string;
  readonly epoch: string;
  readonly term: number;
  readonly structure: number;
  /** What the monotonic clock of who tells it shows, in milliseconds. */
  readonly clock: number;
  readonly prev: number;
  readonly rev: number;
  readonly turns: readonly (ToldTurn | ToldStructure)[];
  /** The machine of who tells it; heartbeats have it. */
  readonly machine?: string | undefined;
}
const numbersOfTold = ['term', 'structure', 'clock', 'prev', 'rev'] as const;

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
  definitions: z.array(definition).optional(),
  next: count.optional(),
  changes: z.array(z.unknown()).optional(),
  to: count.optional(),
  fires: z.array(count).optional(),
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
  hub: name,
  run: name,
  number: count,
  /** Of the owner, when it was first asked. */
  epoch: name,
  /** When it was first asked, on the clock of the owner as it has been heard of, so it may show too little. */
  asked: count,
  by: toldOrigin,
  hop: count,
  why: toldLinks,
  /** Each a `ToldInput`. */
  items: z.array(z.tuple([name, z.unknown(), name.optional()])).min(1),
});
export type WriteRequest = z.output<typeof writeRequest>;

const errorCodes = Object.keys(errorCatalogue) as ErrorCode[];

/** For each item the value that it has become, or the code and the sentence of its error. */
export const writeAnswer = z.strictObject({
  results: z.array(
    z.union([
      z.strictObject({ v: z.union([z.string(), z.number(), z.boolean()]) }),
      z.strictObject({ code: z.enum(errorCodes), message: z.string() }),
    ]),
  ),
});
export type WriteAnswer = z.output<typeof writeAnswer>;

const decoder = new TextDecoder();

/** Reads a message. Errors: it is none. */
export function read<Schema extends z.ZodType>(schema: Schema, data: Uint8Array): z.output<Schema> {
  return schema.parse(JSON.parse(decoder.decode(data)));
}

/** Reads what an owner tells; its turns are looked at when they are taken over. By hand, as there are many. Errors: it is none. */
export function readTold(data: Uint8Array): Told {
  const told = JSON.parse(decoder.decode(data)) as Told;
  const isTold =
    isName(told.hub) &&
    isName(told.epoch) &&
    numbersOfTold.every((key) => Number.isSafeInteger(told[key]) && told[key] >= 0) &&
    Array.isArray(told.turns) &&
    (told.machine === undefined || isName(told.machine));
  if (!isTold) throw new Error('expected whole turns of a hub');
  return told;
}

/** Reads what stands in front of changes; most only say when, and who. Errors: it is none. */
export function readContext(item: unknown): Context {
  return isWhoAndWhen(item) ? item : context.parse(item);
}

function isWhoAndWhen(item: unknown): item is Context {
  for (const key in item as object) if (key !== 'at' && key !== 'by') return false;
  const { at, by } = (item ?? {}) as Context;
  return isTime(at) && (by === undefined || isToldOrigin(by));
}

/** Reads parameters that come or go. Errors: it is none. */
export function readStructure(item: unknown): ToldStructure {
  return structure.parse(item);
}
