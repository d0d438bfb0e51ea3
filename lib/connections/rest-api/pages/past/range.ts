// What of the past a client asks for, and from when to when.

import { describe, HubError } from '../../../../model/error.ts';
import type { AskedParameter, Sight } from '../../../archive.ts';
import { decodePath } from '../../http/path.ts';
import { readMoment } from '../../input/moment.ts';
import type { Visitor } from '../../users/visitor.ts';

/** The end of all time: what was recorded while the clock was ahead is part of all. */
export const endOfTime = 8.64e15;

/** Reads `from` and `to`, which is now when it is left out, unless said. Errors: `bad-request`. */
export function readRange(
  query: URLSearchParams,
  defaultFrom: string,
  defaultTo?: number,
): { from: number; to: number } {
  const now = Date.now();
  const toText = timeText(query, 'to');
  const to = toText === null ? (defaultTo ?? now) : Math.floor(readMoment('to', toText, now));
  const fromText = timeText(query, 'from') ?? defaultFrom;
  const from = Math.floor(readMoment('from', fromText, now));
  if (from > to)
    throw new HubError('bad-request', `from: expected a time before to, got ${describe(fromText)}, which is later`);
  return { from, to };
}

/** In a query, a plus that is not encoded is a space. Of a time it is the plus of its zone: `2026-11-22T03:00+01:00`. */
function timeText(query: URLSearchParams, name: string): string | null {
  return query.get(name)?.replace(/ (?=\d\d:\d\d$)(?<=T.*)/, '+') ?? null;
}

/** Reads a whole number from 1 to `most`. Errors: `bad-request`. */
export function readCount(query: URLSearchParams, name: string, usual: number, most: number): number {
  const text = query.get(name) ?? String(usual);
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= 1 && count <= most) return count;
  throw new HubError('bad-request', `${name}: expected an integer 1..${most}, got ${describe(text)}`);
}

/** The address below a path. Errors: `bad-address`. */
export function addressBelow(start: string, path: string): string {
  return decodePath(path.slice(start.length));
}

/** A parameter, or what was one. */
export function askedOf(address: string, { view }: Visitor): AskedParameter {
  return { address, type: view.find(address)?.type, ...(!view.mayAskFor(address) && { isHidden: true }) };
}

/** What a visitor may see of all that is told along with it; undefined: all. */
export function sightOf({ rights }: Visitor): Sight | undefined {
  if (rights === undefined || rights.readsAll) return undefined;
  const { read, deny } = rights.settings;
  return { read, deny };
}
