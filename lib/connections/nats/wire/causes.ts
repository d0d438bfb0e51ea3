// What led to a change, as hubs tell it to one another: the newest links of the chain, each with who wrote and on which hub.
// Lists are looked at by hand up to their first mistake: a schema would note each of a hundred thousand.

import { z } from 'zod';
import { isAddress } from '../../../model/address.ts';
import { type Change, type Origin, originKinds, type Parameter } from '../../../model/parameter.ts';
import { cutText } from '../../../model/printable.ts';
import { isTime } from '../../../model/time/iso-time.ts';
import { maxTextLength, type Value, type ValueType, valueTypes } from '../../../model/value.ts';

/** How many of the changes that led to a change are told. */
const maxLinks = 16;
const maxNameLength = 1000;
/** Of a longer text only the beginning is told, with `…` at its end: it says what led to a change, and is no value of a parameter. */
const maxCauseText = 1000;
const hubShape = /^[A-Za-z0-9_-]{1,64}$/;
const traceShape = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const unprintable = /\p{Cc}/gu;

/** `["rule","lamp follows","flows/a.json5","east"]`: kind, name, file, hub, traceparent; what is not known at the end is left out. */
export type WireOrigin = readonly [Origin['kind'], string, ...string[]];
const mostOfOrigin = 5;

/** From the newest to the oldest, `[address, type, value, origin, time, hop]` each. */
export type WireLinks = readonly (readonly [string, Parameter['type'], Value, WireOrigin, number, number])[];

export const wireLinks = z.custom<WireLinks>(isWireLinks);

/** Whether a text may name a run, an epoch or a machine, as they are made by hubs. */
export function isName(text: unknown): text is string {
  return typeof text === 'string' && text.length <= maxNameLength;
}

/** Whether a text names a hub or a domain: one token of a subject of NATS. */
export function isHubName(text: unknown): text is string {
  return typeof text === 'string' && hubShape.test(text);
}

export function isCount(number: unknown): number is number {
  return Number.isSafeInteger(number) && (number as number) >= 0;
}

export function isValueType(type: unknown): type is ValueType {
  return valueTypes.includes(type as ValueType);
}

/** Whether something is a `ToldOrigin`. */
export function isWireOrigin(by: unknown): by is WireOrigin {
  if (!Array.isArray(by) || by.length < 2 || by.length > mostOfOrigin) return false;
  return originKinds.includes(by[0]) && by.every(isName);
}

/** Whether something is `ToldLinks`. */
export function isWireLinks(links: unknown): links is WireLinks {
  return Array.isArray(links) && links.length <= maxLinks && links.every(isWireLink);
}

function isWireLink(link: unknown): boolean {
  if (!Array.isArray(link) || link.length !== 6) return false;
  const [address, type, value, by, at, hop] = link;
  return isAddress(address) && isValueType(type) && isScalar(value) && isWireOrigin(by) && isTime(at) && isCount(hop);
}

/** A value of any type: that of a cause is only shown. */
function isScalar(value: unknown): value is Value {
  if (typeof value === 'string') return value.length <= maxTextLength;
  return typeof value === 'boolean' || Number.isFinite(value);
}

/** Of a longer name only the beginning is told, with `…` at its end: a rule without one is called after all that it listens to. */
export function encodeOrigin({ kind, name, file, hub, traceparent }: Origin): WireOrigin {
  const reported = cutText(name, maxNameLength - 1);
  const wireFile = file === undefined ? '' : cutText(file, maxNameLength - 1);
  if (traceparent !== undefined) return [kind, reported, wireFile, hub ?? '', traceparent];
  if (hub !== undefined) return [kind, reported, wireFile, hub];
  return file === undefined ? [kind, reported] : [kind, reported, wireFile];
}

/**
 * The origin, on the hub that tells it unless it names another. That hub alone vouches for it. A name has no control characters here,
 * which could move a cursor or begin a line of their own wherever it is shown.
 */
export function readOrigin([kind, name, file = '', hub, traceparent]: WireOrigin, sender: string): Origin {
  return {
    kind,
    name: printable(name),
    ...(file !== '' && { file: printable(file) }),
    hub: isHubName(hub) ? hub : sender,
    reportedBy: sender,
    ...(traceparent !== undefined && traceShape.test(traceparent) && { traceparent }),
  };
}

/** How many writers of a hub are told apart, and how long they are together; beyond, they are learnt anew. */
const maxOrigins = 1000;
const maxOriginsLength = 200_000;
/** A name that is longer counts as what led to a change. */
const usualOriginLength = 100;

/** A writer, and how long it is beyond what is usual. */
export interface KnownOrigin {
  readonly origin: Origin;
  readonly extra: number;
}

/** The writers that one hub has told of: each is read once, since changes by the thousand have the same. */
export class KnownOrigins {
  readonly #sender: string;
  readonly #known = new Map<string, KnownOrigin>();
  #length = 0;

  constructor(sender: string) {
    this.#sender = sender;
  }

  read(by: WireOrigin): KnownOrigin {
    const key = by.join('\n');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const read = { origin: readOrigin(by, this.#sender), extra: Math.max(0, key.length - usualOriginLength) };
    if (by.length === mostOfOrigin) return read; // one with a trace comes once
    if (this.#known.size >= maxOrigins || this.#length >= maxOriginsLength) {
      this.#known.clear();
      this.#length = 0;
    }
    this.#known.set(key, read);
    this.#length += key.length;
    return read;
  }
}

/** A text in which each control character, and each half of a character, is `�`. */
export function printable(text: string): string {
  return text.toWellFormed().replace(unprintable, '\ufffd');
}

/** Tells a change and what led to it. */
export function encodeLinks(newest: Change | undefined): WireLinks {
  const links: WireLinks[number][] = [];
  for (let link = newest; link !== undefined && links.length < maxLinks; link = link.cause) {
    const { parameter, value, origin, time, hop } = link;
    links.push([parameter.address, parameter.type, shortened(value), encodeOrigin(origin), Math.trunc(time), hop]);
  }
  return links;
}

function shortened(value: Value): Value {
  return typeof value === 'string' ? cutText(value, maxCauseText) : value;
}

/** The newest of the changes that were told, with the others as its causes; undefined: none was. */
export function readLinks(
  links: WireLinks,
  sender: string,
  find: (address: string) => Parameter | undefined,
): Change | undefined {
  return links.reduceRight<Change | undefined>((cause, [address, type, value, origin, time, hop]) => {
    const parameter = find(address) ?? { address, type, access: 'read-only', value: undefined, lastChange: undefined };
    const depth = cause === undefined ? 0 : cause.depth + 1;
    return {
      parameter,
      value,
      previous: undefined,
      origin: readOrigin(origin, sender),
      cause,
      depth,
      hop,
      revision: 0,
      time,
    };
  }, undefined);
}

/** About how many characters causes take that are kept. */
export function lengthOfLinks(links: WireLinks): number {
  return links.reduce(
    (sum, [address, , value, by]) => sum + linkLength + address.length + lengthOf(value) + lengthOf(...by),
    0,
  );
}

/** What a link takes beside its texts. */
const linkLength = 200;

function lengthOf(...values: readonly Value[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}
