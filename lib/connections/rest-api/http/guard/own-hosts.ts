// Whether the `Host` of a request names this hub. A page of another site can have its own name lead to the hub (DNS rebinding), but it
// cannot have the browser send another `Host` than that name.

import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { HubError } from '../../../../model/error.ts';

const maxKnownHosts = 1000;

/**
 * Creates the check of a `Host`. The hub has every IP address, `localhost`, the name of this machine, and further names. Errors:
 * `bad-request` when it is malformed.
 */
export function createHostCheck(furtherNames: readonly string[]): (host: string) => boolean {
  const names = ownNames(furtherNames);
  const knownHosts = new Set<string>();
  const isKnownHost = (host: string) => {
    if (knownHosts.has(host)) return true;
    const name = readHost(host)?.name;
    if (name === undefined)
      throw new HubError('bad-request', `Host: expected a name or an address, and a port if any, got "${host}"`);
    if (isIP(name) === 0 && !names.has(name)) return false;
    if (knownHosts.size < maxKnownHosts) knownHosts.add(host);
    return true;
  };
  let lastHost: string | undefined; // nearly every request names the same one
  return (host) => {
    if (host === lastHost) return true;
    if (!isKnownHost(host)) return false;
    lastHost = host;
    return true;
  };
}

function ownNames(allowed: readonly string[]): ReadonlySet<string> {
  const own = hostname().toLowerCase();
  const short = own.split('.', 1)[0]!;
  return new Set(['localhost', own, short, `${short}.local`, ...allowed.map((name) => name.toLowerCase())]);
}

/**
 * Reads a `Host` (RFC 9110 section 7.2): `Studio.local.:17011` → `studio.local`, 17011; `[::1]:` → `::1`, which has the default port.
 * undefined: it is malformed.
 */
export function readHost(host: string): { readonly name: string; readonly port: number | undefined } | undefined {
  const [, bracketed, plain, digits = ''] = hostForm.exec(host) ?? [];
  const port = digits === '' ? undefined : Number(digits);
  if (port !== undefined && port > 65_535) return undefined;
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? { name: shortOf(bracketed), port } : undefined;
  return plain === undefined ? undefined : { name: plain.toLowerCase().replace(/(?<=.)\.$/, ''), port };
}

/** An address in brackets, or a name of the characters that may stand there, and a port, which may be empty (RFC 3986 section 3.2). */
const hostForm = /^(?:\[([^\]]+)\]|((?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+))(?::(\d*))?$/i;

/** An IPv6 address as browsers write it: `0:0:0:0:0:0:0:1` → `::1`. */
function shortOf(address: string): string {
  const url = `http://[${address}]`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : address.toLowerCase(); // one with a zone is in no URL
}
