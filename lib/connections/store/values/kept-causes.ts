// The change that set a value, and the causes of this change. Both are stored with the value as JSON that people can query, so that
// `explain` still shows them after a restart.

import { isJsonObject } from '../../../model/json-object.ts';
import { type Change, type Origin, originKinds, type Parameter } from '../../../model/parameter.ts';
import { cutText } from '../../../model/printable.ts';
import { isTime } from '../../../model/time/iso-time.ts';
import { type Value, type ValueType, valueTypes } from '../../../model/value.ts';

/** The maximum number of changes, counting back from the newest, that are stored with a value. */
export const maxKeptCauses = 16;
/** The length to which strings in changes are truncated, in characters. The value itself is stored in full. */
export const maxCauseText = 200;

/** A stored value, with the properties that the first link of its causes omits. */
export interface KeptLeaf {
  readonly address: string;
  readonly type: ValueType;
  readonly value: Value;
  readonly time: number;
}

/**
 * A link in a chain of causes. The first link omits the address, type, value and time, which are the same as for the value. Only the last
 * link may have `forgotten`.
 */
interface Link extends Origin, Partial<KeptLeaf> {
  readonly previous?: Value;
  /** The revision of the hub in the run in which the change was made; undefined if an equal value was written again. */
  readonly revision?: number;
  /** The number of earlier causes that were not stored. */
  readonly forgotten?: number;
}

/**
 * Encodes changes as JSON: `[{"kind":"rule","name":"lamp off","file":"demo.json5","revision":7},{"address":"clock/timer/2/trigger",…}]`.
 */
export class CausesWriter {
  readonly #origins = new WeakMap<Origin, string>();
  /** The last cause and the JSON of its links, because consecutive changes often have the same cause. */
  #last: { readonly cause: Change; readonly text: string } | undefined;

  /**
   * Returns a change and its causes as JSON. For a restored value, returns the causes from before the restart, or an empty string if they
   * are unknown.
   */
  write(change: Change): string {
    if (change.origin.kind === 'restored') return change.cause === undefined ? '' : this.write(change.cause);
    return `[{${this.#end(change, 1)}${this.#causes(change.cause)}]`;
  }

  #causes(cause: Change | undefined): string {
    if (cause === undefined) return '';
    if (this.#last?.cause !== cause) this.#last = { cause, text: this.#links(cause) };
    return this.#last.text;
  }

  #links(first: Change): string {
    let text = '';
    let count = 1;
    for (let link: Change | undefined = first; link !== undefined && count < maxKeptCauses; link = link.cause) {
      const { parameter, value, time } = link;
      count++;
      text += `,{"address":${JSON.stringify(parameter.address)},"type":"${parameter.type}","value":${json(value)},"time":${Math.trunc(time)},${this.#end(link, count)}`;
    }
    return text;
  }

  /** Encodes the properties that all links have in common. `count` is the number of links up to and including this one. */
  #end(link: Change, count: number): string {
    const { origin, previous, revision, cause, depth } = link;
    const before = previous === undefined ? '' : `,"previous":${json(previous)}`;
    const numbered = revision === 0 ? '' : `,"revision":${revision}`;
    const isLast = cause === undefined || count === maxKeptCauses;
    return `${this.#origin(origin)}${before}${numbered}${isLast && depth > 0 ? `,"forgotten":${depth}` : ''}}`;
  }

  /** Encodes an origin, without braces: `"kind":"rule","name":"lamp off"`. */
  #origin(origin: Origin): string {
    let text = this.#origins.get(origin);
    if (text === undefined) {
      const { kind, name, file, hub, reportedBy, traceparent } = origin;
      text = JSON.stringify({ kind, name, file, hub, reportedBy, traceparent }).slice(1, -1);
      this.#origins.set(origin, text);
    }
    return text;
  }
}

/**
 * Parses causes that a `CausesWriter` has encoded, and returns the change that set the value. Returns undefined if nothing is known, or if
 * the JSON was edited and is invalid.
 */
export function readCauses(leaf: KeptLeaf, text: string): Change | undefined {
  if (text === '') return undefined;
  const links = readLinks(text);
  return links?.reduceRight<Change | undefined>((cause, link) => toChange({ ...leaf, ...link }, cause), undefined);
}

function readLinks(text: string): readonly Link[] | undefined {
  try {
    const links: unknown = JSON.parse(text);
    return Array.isArray(links) && links.length > 0 && links.every(isLink) ? links : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns whether data is a valid link. Checked without a schema, because the hub reads thousands of links at startup and a schema would
 * take ten times as long.
 */
function isLink(link: unknown, index: number): link is Link {
  if (!isJsonObject(link)) return false;
  const { kind, name, file, hub, reportedBy, traceparent, previous, revision, forgotten } = link;
  return (
    originKinds.some((known) => known === kind) &&
    isText(name) &&
    [file, hub, reportedBy, traceparent].every((text) => text === undefined || isText(text)) &&
    (previous === undefined || isValue(previous)) &&
    [revision, forgotten].every((count) => count === undefined || isCount(count)) &&
    (index === 0 || isLeaf(link))
  );
}

function isLeaf({ address, type, value, time }: Readonly<Record<string, unknown>>): boolean {
  return isText(address) && valueTypes.some((known) => known === type) && isValue(value) && isTime(time);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isValue(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function toChange(link: Link & KeptLeaf, cause: Change | undefined): Change {
  const { address, type, value, time, previous, revision = 0, forgotten = 0 } = link;
  const parameter: Parameter = { address, type, access: 'read-only', value: undefined, lastChange: undefined };
  const depth = cause === undefined ? forgotten : cause.depth + 1;
  return { parameter, value, previous, origin: originOf(link), cause, depth, hop: 0, revision, time };
}

/**
 * The most recently read origins, keyed by their JSON, so that each author is represented by one object. There are usually only a few
 * authors.
 */
const origins = new Map<string, Origin>();
const mostOrigins = 1000;

function originOf({ kind, name, file, hub, reportedBy, traceparent }: Link): Origin {
  const key = JSON.stringify([kind, name, file, hub, reportedBy, traceparent]);
  const known = origins.get(key);
  if (known !== undefined) return known;
  const origin: Origin = {
    kind,
    name,
    ...(file !== undefined && { file }),
    ...(hub && { hub }),
    ...(reportedBy && { reportedBy }),
    ...(traceparent && { traceparent }),
  };
  if (origins.size === mostOrigins) origins.clear();
  origins.set(key, origin);
  return origin;
}

function json(value: Value): string {
  return typeof value === 'string' ? JSON.stringify(cutText(value, maxCauseText)) : String(value);
}
