// Loads the list of all parameters in a worker. For 100,000 parameters, the list has a size of 15 MB. The page receives only the parts that
// it searches and draws, in display order.

import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';

/** The worker's message to the page: the list of parameters, or an error. */
export interface CatalogueMessage {
  readonly addresses?: string;
  /** The value type of each parameter, as one letter per address. */
  readonly types?: string;
  /** The access to each parameter: `rw`, `r-` or `-w` per address. */
  readonly accesses?: string;
  /** The reason why the list could not be loaded. */
  readonly error?: string;
}

const codes = { 'read-write': 'rw', 'read-only': 'r-', 'write-only': '-w' } as const;

/** The page sends the headers with which the worker requests the list. */
addEventListener(
  'message',
  ({ data }: MessageEvent<Readonly<Record<string, string>>>) =>
    void read(data).then(postMessage, (error) => postMessage({ error: error.message })),
);

async function read(headers: Readonly<Record<string, string>>): Promise<CatalogueMessage> {
  const response = await fetch('/hub/parameters', { headers });
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

// The display order of addresses: segment by segment, so that folders stay together, with numbers ordered by value.

const digits = 12;

/** Returns a sort key, which places `desk/2` before `desk/10`. Different addresses have different keys. */
function orderingKey(address: string): string {
  if (!/\d/.test(address)) return address.replaceAll('/', '\u0001');
  return address
    .split('/')
    .map((segment) => {
      const padded = segment.replace(/\d+/g, (number) => number.padStart(digits, '0'));
      return /(^|\D)0\d/.test(segment) ? `${padded}\u0000${segment}` : padded; // distinguishes 7 and 07
    })
    .join('\u0001');
}
