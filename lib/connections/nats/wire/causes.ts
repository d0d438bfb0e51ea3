// What led to a change, as hubs tell it to one another: the newest links of the chain, each with who wrote and on which hub.

import { z } from 'zod';
import { cutText } from '../../../model/cut-text.ts';
import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import { type Value, valueTypes } from '../../../model/value.ts';

/** How many of the changes that led to a change are told. */
const maxLinks = 16;
const maxNameLength = 1000;
/** Of a longer text only the beginning is told, with `…` at its end: it says what led to a change, and is no value of a parameter. */
const maxCauseText = 1000;

export const name = z.string().max(maxNameLength);
/** The last point in time that a date can be, and as long before 1970 the first one. */
const lastTimeMs = 8.64e15;
/** Milliseconds since 1970. */
export const time = z.int().min(-lastTimeMs).max(lastTimeMs);
const kinds = ['connection', 'rule', 'client', 'restored'] as const satisfies readonly Origin['kind'][];

/** `["rule","lamp follows","flows/a.json5","east"]`: kind, name, file, hub, traceparent; what is not known at the end is left out. */
export const toldOrigin = z.tuple([z.enum(kinds), name], name);
export type ToldOrigin = readonly [Origin['kind'], string, ...string[]];

/** `[address, type, value, origin, time, hop]`. */
const toldLink = z.tuple([
  name,
  z.enum(valueTypes),
  z.union([z.string(), z.number(), z.boolean()]),
  toldOrigin,
  time,
  z.int().min(0),
]);
/** From the newest to the oldest. */
export const toldLinks = z.array(toldLink).max(maxLinks);
export type ToldLinks = readonly (readonly [string, Parameter['type'], Value, ToldOrigin, number, number])[];

/** Whether a text is a `name`. */
export function isName(text: unknown): boolean {
  return typeof text === 'string' && text.length <= maxNameLength;
}

/** Whether something is a `time`. */
export function isTime(at: unknown): at is number {
  return Number.isSafeInteger(at) && Math.abs(at as number) <= lastTimeMs;
}

/** Whether something is a `toldOrigin`. */
export function isToldOrigin(by: unknown): by is ToldOrigin {
  return Array.isArray(by) && by.length >= 2 && kinds.includes(by[0]) && by.every(isName);
}

/** Of a longer name only the beginning is told, with `…` at its end: a rule without one is called after all that it listens to. */
export function tellOrigin({ kind, name, file, hub, traceparent }: Origin): ToldOrigin {
  const told = cutText(name, maxNameLength - 1);
  const toldFile = file === undefined ? '' : cutText(file, maxNameLength - 1);
  if (traceparent !== undefined) return [kind, told, toldFile, hub ?? '', traceparent];
  if (hub !== undefined) return [kind, told, toldFile, hub];
  return file === undefined ? [kind, told] : [kind, told, toldFile];
}

/** The origin, on the hub that tells it unless it names another. */
export function readOrigin([kind, name, file = '', hub = '', traceparent]: ToldOrigin, teller: string): Origin {
  return { kind, name, ...(file !== '' && { file }), hub: hub || teller, ...(traceparent && { traceparent }) };
}

/** Tells a change and what led to it. */
export function tellLinks(newest: Change | undefined): ToldLinks {
  const links: ToldLinks[number][] = [];
  for (let link = newest; link !== undefined && links.length < maxLinks; link = link.cause) {
    const { parameter, value, origin, time, hop } = link;
    links.push([parameter.address, parameter.type, shortened(value), tellOrigin(origin), time, hop]);
  }
  return links;
}

function shortened(value: Value): Value {
  return typeof value === 'string' ? cutText(value, maxCauseText) : value;
}

/** The newest of the changes that were told, with the others as its causes; undefined: none was. */
export function readLinks(
  links: ToldLinks,
  teller: string,
  find: (address: string) => Parameter | undefined,
): Change | undefined {
  return links.reduceRight<Change | undefined>((cause, [address, type, value, origin, time, hop]) => {
    const parameter = find(address) ?? { address, type, access: 'read-only', value: undefined, lastChange: undefined };
    const depth = cause === undefined ? 0 : cause.depth + 1;
    return {
      parameter,
      value,
      previous: undefined,
      origin: readOrigin(origin, teller),
      cause,
      depth,
      hop,
      revision: 0,
      time,
    };
  }, undefined);
}
