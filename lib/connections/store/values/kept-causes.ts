// The change that set a value and its causes, stored with the value as JSON that people can query. After a restart, `explain` still shows
// them.

import { isJsonObject } from '../../../model/json-object.ts';
import { type Change, type Origin, originKinds, type Parameter } from '../../../model/parameter.ts';
import { cutText } from '../../../model/printable.ts';
import { isTime } from '../../../model/time/iso-time.ts';
import { type Value, type ValueType, valueTypes } from '../../../model/value.ts';

/** The maximum number of changes kept with a value; the newest ones are kept. */
export const maxKeptCauses = 16;
/** Texts in changes are cut at this length. The value itself is stored in full. */
export const maxCauseText = 200;

/** A stored value: the fields that its first link omits. */
export interface KeptLeaf {
  readonly address: string;
  readonly type: ValueType;
  readonly value: Value;
  readonly time: number;
}

/** The first link has no address, type, value and time: they are those of the value. Only the last link may have `forgotten`. */
interface Link extends Origin, Partial<KeptLeaf> {
  readonly previous?: Value;
  /** The revision in the hub's run at that time; undefined if an equal value was written again. */
  readonly revision?: number;
  /** The number of earlier causes that are not kept. */
  readonly forgotten?: number;
}

/** Writes changes as text: `[{"kind":"rule","name":"lamp off","file":"demo.json5","revision":7},{"address":"clock/timer/2/trigger",…}]`. */
export class CausesWriter {
  readonly #origins = new WeakMap<Origin, string>();
  /** Consecutive changes often have the same cause. */
  #last: { readonly cause: Change; readonly text: string } | undefined;

  /** Returns the causes as text. For a restored value, these are the causes of the change before the restart; empty if unknown. */
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

  /** Writes the part common to all links; `count` is the number of links up to this one. */
  #end(link: Change, count: number): string {
    const { origin, previous, revision, cause, depth } = link;
    const before = previous === undefined ? '' : `,"previous":${json(previous)}`;
    const numbered = revision === 0 ? '' : `,"revision":${revision}`;
    const isLast = cause === undefined || count === maxKeptCauses;
    return `${this.#origin(origin)}${before}${numbered}${isLast && depth > 0 ? `,"forgotten":${depth}` : ''}}`;
  }

  /** `"kind":"rule","name":"lamp off"` */
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

/** Reads the text of a `CausesWriter`; undefined if nothing is known, or the text was edited and is invalid. */
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

/** Checked by hand, because a start of the hub reads thousands of them, and a schema takes ten times as long. */
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

/** The most recently read origins. There are usually few, and each author is one object. */
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
