// The elements of a mirrored tree, the hub's parameters for these elements, and the selection of elements by the settings.

import type { Subscription } from 'rxjs';
import { globToRegExp } from '../../model/glob.ts';
import type { Change, Parameter } from '../../model/parameter.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { Contents, ElementKind, GlowValue } from './glow.ts';
import type { ParameterPoint, Point } from './points.ts';
import type { EmberPlusSettings } from './settings.ts';

/** An element in a provider's tree, as the consumer knows it. */
export interface Entry {
  readonly kind: ElementKind;
  readonly path: string;
  readonly id: string;
  readonly parent: Entry | undefined;
  readonly children: Entry[];
  /** The names of the children; no two children have the same name. */
  readonly names: Set<string>;
  contents: Contents;
  isOnline: boolean;
  /** The nearest node that reports whether it is online: this element itself or the closest such node above. */
  device: Entry | undefined;
  /** The hub's parameter for this element, if the element is a parameter or a function. */
  live: Live | undefined;
  /** The hub's parameters for the targets of a matrix, keyed by target number. */
  targets: Map<number, Live> | undefined;
  sources: readonly number[] | undefined;
}

/**
 * A parameter of the hub that mirrors an element. Unlike the element's `Entry`, the parameter survives when the link to the provider ends.
 */
export interface Live {
  readonly id: string;
  readonly type: ValueType;
  /** The parameter's declaration as JSON, which shows whether the parameter must be declared again. */
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
  /** Whether the provider's tree has contained the element since the last connect. */
  isThere: boolean;
}

/** Creates an entry for an element that is online and belongs to its parent's device. */
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

/** Returns whether a node that reports its state and all such nodes above it are online. */
export function isReachable(device: Entry): boolean {
  for (let one: Entry | undefined = device; one !== undefined; one = one.parent?.device)
    if (!one.isOnline) return false;
  return true;
}

/**
 * Returns a name for an element that is unique among its siblings: the identifier, or the identifier and the number if `taken` contains the
 * identifier.
 */
export function nameOf(identifier: string, number: string, taken: ReadonlySet<string>): string {
  const name =
    identifier
      .toWellFormed()
      .replaceAll(/[/\p{Cc}]/gu, '_')
      .trim()
      .slice(0, 100) || number;
  return taken.has(name) ? `${name}~${number}` : name;
}

/** Converts a value reported by the provider to the hub's value. Returns undefined if the value is unknown. */
export function readValue({ point }: Live, value: GlowValue): Value | undefined {
  return (point as ParameterPoint).read(value);
}

/**
 * Returns whether a reported value equals the written value. Numbers are also equal if they are equal as 32-bit floats, because some
 * providers store numbers in this form.
 */
export function isSameValue(written: Value, reported: Value): boolean {
  if (typeof written !== 'number' || typeof reported !== 'number') return written === reported;
  return written === reported || Math.fround(written) === Math.fround(reported);
}

/**
 * Returns a function that checks whether the settings include an element, given its ID. For a node, the function returns true if any
 * element below the node may be included.
 */
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
