// The causes of a change in the form in which hubs exchange them: the latest links of the chain, each with its writer and the writer's hub.
// Lists are checked by hand up to the first error, because a schema would report each of a hundred thousand errors.

import { z } from 'zod';
import { isAddress } from '../../../model/address.ts';
import { type Change, type Origin, originKinds, type Parameter } from '../../../model/parameter.ts';
import { cutText } from '../../../model/printable.ts';
import { isTime } from '../../../model/time/iso-time.ts';
import { maxTextLength, type Value, type ValueType, valueTypes } from '../../../model/value.ts';

/** The maximum number of causes that are sent with a change. */
const maxLinks = 16;
const maxNameLength = 1000;
/**
 * The maximum length of a string in a cause, in characters. A longer string is truncated and ends with `…`. This is harmless, because a
 * cause only explains a change and never contains the value of a parameter.
 */
const maxCauseText = 1000;
const hubShape = /^[A-Za-z0-9_-]{1,64}$/;
const traceShape = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const unprintable = /\p{Cc}/gu;

/**
 * An origin as a list: kind, name, file, hub, traceparent. Unknown parts at the end are omitted:
 * `["rule","lamp follows","flows/a.json5","east"]`.
 */
export type WireOrigin = readonly [Origin['kind'], string, ...string[]];
const mostOfOrigin = 5;

/** Changes from newest to oldest, each as `[address, type, value, origin, time, hop]`. */
export type WireLinks = readonly (readonly [string, Parameter['type'], Value, WireOrigin, number, number])[];

export const wireLinks = z.custom<WireLinks>(isWireLinks);

/** Returns whether a value can be the identifier of a run, an epoch or a machine, as created by hubs. */
export function isName(text: unknown): text is string {
  return typeof text === 'string' && text.length <= maxNameLength;
}

/** Returns whether a value can be the name of a hub or a domain, which is a single token in a NATS subject. */
export function isHubName(text: unknown): text is string {
  return typeof text === 'string' && hubShape.test(text);
}

export function isCount(number: unknown): number is number {
  return Number.isSafeInteger(number) && (number as number) >= 0;
}

export function isValueType(type: unknown): type is ValueType {
  return valueTypes.includes(type as ValueType);
}

/** Returns whether a value is a `WireOrigin`. */
export function isWireOrigin(by: unknown): by is WireOrigin {
  if (!Array.isArray(by) || by.length < 2 || by.length > mostOfOrigin) return false;
  return originKinds.includes(by[0]) && by.every(isName);
}

/** Returns whether a value is a `WireLinks`. */
export function isWireLinks(links: unknown): links is WireLinks {
  return Array.isArray(links) && links.length <= maxLinks && links.every(isWireLink);
}

function isWireLink(link: unknown): boolean {
  if (!Array.isArray(link) || link.length !== 6) return false;
  const [address, type, value, by, at, hop] = link;
  return isAddress(address) && isValueType(type) && isScalar(value) && isWireOrigin(by) && isTime(at) && isCount(hop);
}

/** Returns whether an unknown value is a parameter value of any type. The type does not matter, because a cause is only displayed. */
function isScalar(value: unknown): value is Value {
  if (typeof value === 'string') return value.length <= maxTextLength;
  return typeof value === 'boolean' || Number.isFinite(value);
}

/**
 * Encodes an origin. Long names are truncated and end with `…`. A rule without a name can have a long name, because it is named after all
 * addresses that it listens to.
 */
export function encodeOrigin({ kind, name, file, hub, traceparent }: Origin): WireOrigin {
  const reported = cutText(name, maxNameLength - 1);
  const wireFile = file === undefined ? '' : cutText(file, maxNameLength - 1);
  if (traceparent !== undefined) return [kind, reported, wireFile, hub ?? '', traceparent];
  if (hub !== undefined) return [kind, reported, wireFile, hub];
  return file === undefined ? [kind, reported] : [kind, reported, wireFile];
}

/**
 * Parses an origin. The writer is on the sending hub unless the origin names another hub, and only the sending hub vouches for the origin.
 * Control characters are replaced, because they could move the cursor or begin a new line where the name is displayed.
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

/**
 * The maximum number of writers on one hub that are cached, and their maximum total length in characters. Beyond these bounds, the cache is
 * cleared.
 */
const maxOrigins = 1000;
const maxOriginsLength = 200_000;
/** The usual length of a writer's name, in characters. The excess length of a longer name counts like a cause. */
const usualOriginLength = 100;

/** A writer, and the number of characters by which its name exceeds the usual length. */
export interface KnownOrigin {
  readonly origin: Origin;
  readonly extra: number;
}

/** A cache for the writers that one hub reports. Thousands of changes may have the same writer. */
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
    if (by.length === mostOfOrigin) return read; // an origin with a trace is used only once
    if (this.#known.size >= maxOrigins || this.#length >= maxOriginsLength) {
      this.#known.clear();
      this.#length = 0;
    }
    this.#known.set(key, read);
    this.#length += key.length;
    return read;
  }
}

/** Returns a string in which each control character and each unpaired surrogate is replaced by `�`. */
export function printable(text: string): string {
  return text.toWellFormed().replace(unprintable, '\ufffd');
}

/** Encodes a change and its causes as links, newest first. */
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

/** Returns the newest reported change, with the remaining changes as its causes. Returns undefined for an empty list. */
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

/** Returns the approximate number of characters that causes take up in memory. */
export function lengthOfLinks(links: WireLinks): number {
  return links.reduce(
    (sum, [address, , value, by]) => sum + linkLength + address.length + lengthOf(value) + lengthOf(...by),
    0,
  );
}

/** The approximate size of a link without its strings, in characters. */
const linkLength = 200;

function lengthOf(...values: readonly Value[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}
