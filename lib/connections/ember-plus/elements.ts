// The elements of a mirrored tree, the parameters of the hub that they are, and which of them the settings choose.

import type { Subscription } from 'rxjs';
import { globToRegExp } from '../../model/glob.ts';
import type { Change, Parameter } from '../../model/parameter.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { Contents, ElementKind, GlowValue } from './glow.ts';
import type { ParameterPoint, Point } from './points.ts';
import type { EmberPlusSettings } from './settings.ts';

/** An element of the tree. */
export interface Entry {
  readonly kind: ElementKind;
  readonly path: string;
  readonly id: string;
  readonly parent: Entry | undefined;
  readonly children: Entry[];
  /** The names of the children. */
  readonly names: Set<string>;
  contents: Contents;
  isOnline: boolean;
  /** The nearest node, from this one upwards, that reports whether it is online. */
  device: Entry | undefined;
  /** The parameter, or the function. */
  live: Live | undefined;
  /** The targets of a matrix. */
  targets: Map<number, Live> | undefined;
  sources: readonly number[] | undefined;
}

/** A parameter of the hub. It outlives a link, unlike its entry. */
export interface Live {
  readonly id: string;
  readonly type: ValueType;
  /** What was declared, as text. */
  key: string;
  point: Point;
  entry: Entry;
  target: number | undefined;
  own: Parameter | undefined;
  writing: Subscription | undefined;
  unsent: Value | undefined;
  wanted:
    | { readonly value: Value; readonly before: Value | undefined; readonly change: Change | undefined }
    | undefined;
  timer: Subscription | undefined;
  /** Whether the tree has it since the last connect. */
  isThere: boolean;
}

/** Creates an element that is online, and belongs to the device of its parent. */
export function createEntry(
  kind: ElementKind,
  path: string,
  id: string,
  parent: Entry | undefined,
  contents: Contents,
): Entry {
  return {
    ...{ kind, path, id, parent, contents, children: [], names: new Set<string>(), isOnline: true },
    ...{ device: parent?.device, live: undefined, targets: undefined, sources: undefined },
  };
}

/** Whether a node that reports it, and all such nodes above it, are online. */
export function isReachable(device: Entry): boolean {
  for (let one: Entry | undefined = device; one !== undefined; one = one.parent?.device)
    if (!one.isOnline) return false;
  return true;
}

/** Returns the name of an element among its siblings. */
export function nameOf(identifier: string, number: string, taken: ReadonlySet<string>): string {
  const name =
    identifier
      .toWellFormed()
      .replaceAll(/[/\p{Cc}]/gu, '_')
      .trim()
      .slice(0, 100) || number;
  return taken.has(name) ? `${name}~${number}` : name;
}

/** Returns the value of the hub for a reported one; undefined: unknown. */
export function readValue({ point }: Live, value: GlowValue): Value | undefined {
  return (point as ParameterPoint).read(value);
}

/** Whether a reported value is the written one. A provider may keep numbers as 32-bit floats. */
export function isSameValue(written: Value, reported: Value): boolean {
  if (typeof written !== 'number' || typeof reported !== 'number') return written === reported;
  return written === reported || Math.fround(written) === Math.fround(reported);
}

/** Returns a function that checks whether an ID belongs to the mirrored part of the tree; of a node, whether anything below it may. */
export function selectBy({ include, exclude }: EmberPlusSettings): (id: string, isNode: boolean) => boolean {
  const [included, excluded] = [include.map(globToRegExp), exclude.map(globToRegExp)];
  const beginnings = include.map((glob) => glob.split('*', 1)[0]!);
  return (id, isNode) => {
    if (id === '') return true;
    if (excluded.some((pattern) => pattern.test(id) || (isNode && pattern.test(`${id}/`)))) return false;
    if (included.length === 0 || included.some((pattern) => pattern.test(id))) return true;
    const inside = `${id}/`;
    return isNode && beginnings.some((begin) => begin.startsWith(inside) || inside.startsWith(begin));
  };
}
