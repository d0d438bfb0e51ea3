// Reads the list of all parameters in a thread of its own. For 100,000 parameters it has 15 MB; the page gets only what it searches
// and draws, in the order in which people look for it.

import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';

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

// The order of addresses: segment by segment, so that a folder stands together, and numbers by their value.

const digits = 12;

/** Returns a text for an address that sorts as people expect: `desk/2` before `desk/10`. Different addresses have different texts. */
function orderingKey(address: string): string {
  if (!/\d/.test(address)) return address.replaceAll('/', '\u0001');
  return address
    .split('/')
    .map((segment) => {
      const padded = segment.replace(/\d+/g, (number) => number.padStart(digits, '0'));
      return /(^|\D)0\d/.test(segment) ? `${padded}\u0000${segment}` : padded; // 7 and 07 are not the same
    })
    .join('\u0001');
}
