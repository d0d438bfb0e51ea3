// Reads the list of all parameters off the hot path: of 15 MB for 100,000 parameters the page gets what it searches and draws,
// in the order in which people look for it.

import type { ParameterInfo } from '../../wire/http/parameters.ts';
import { orderingKey } from './ordering.ts';

/** What the page is told: addresses in order, one per line, and of each its type and the first letters of its access. */
export interface CatalogueMessage {
  readonly addresses?: string;
  /** A letter per address. */
  readonly types?: string;
  /** `rw`, `r-` or `-w` per address. */
  readonly accesses?: string;
  /** Why there is none. */
  readonly error?: string;
}

const codes = { 'read-write': 'rw', 'read-only': 'r-', 'write-only': '-w' } as const;

read().then(postMessage, (error) => postMessage({ error: error.message }));

async function read(): Promise<CatalogueMessage> {
  const response = await fetch('/hub/parameters');
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  const infos = ((await response.json()) as ParameterInfo[]).map(({ parameter, type, access }) => ({
    key: orderingKey(parameter),
    parameter,
    type,
    access,
  }));
  infos.sort((one, other) => (one.key < other.key ? -1 : 1));
  return {
    addresses: infos.map(({ parameter }) => parameter).join('\n'),
    types: infos.map(({ type }) => type).join(''),
    accesses: infos.map(({ access }) => codes[access]).join(''),
  };
}
