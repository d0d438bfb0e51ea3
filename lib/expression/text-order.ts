// The order of texts: by code points, as CEL has it. The language itself compares units of UTF-16, in which an emoji comes before the
// last characters of the first plane.

import { type Part, partsOf } from './syntax-tree.ts';

const comparisons: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

/** Has an expression that was checked compare texts by code points. */
export function orderTexts(part: Part): void {
  const isMeant = comparisons[part.op];
  const { handle } = part;
  if (isMeant !== undefined && handle !== undefined) {
    const types = (part.args as Part[]).map(({ checkedType }) => checkedType?.name ?? 'dyn');
    const compare = (left: unknown, right: unknown) => isMeant(compareTexts(left as string, right as string));
    if (types.every((type) => type === 'string')) part.handle = compare;
    else if (types.every((type) => type === 'string' || type === 'dyn'))
      part.handle = (left, right, ...more) =>
        typeof left === 'string' && typeof right === 'string' ? compare(left, right) : handle(left, right, ...more);
  }
  for (const inner of partsOf(part)) orderTexts(inner);
  if (part.meta.alternate !== undefined) orderTexts(part.meta.alternate as Part);
}

/** Negative: the first text comes first. */
function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [unit, otherUnit] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (unit !== otherUnit) return placeOf(unit) - placeOf(otherUnit);
  }
  return one.length - other.length;
}

/** Where a unit is among code points: surrogates stand for those behind all others. */
function placeOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
