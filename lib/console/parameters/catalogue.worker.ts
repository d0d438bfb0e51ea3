// Reads the list of all parameters in a thread of its own. For 100,000 parameters it has 15 MB; the page gets only what it searches
// and draws, in the order in which people look for it.

import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';
import { orderingKey } from './list/ordering.ts';

/** What the page gets. */
export interface CatalogueMessage {
  readonly addresses?: string;
  /** A letter for each address. */
  readonly types?: string;
  /** `rw`, `r-` or `-w` for each address. */
  readonly accesses?: string;
  /** Why there is no list. */
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
