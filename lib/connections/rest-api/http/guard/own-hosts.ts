// Whether the `Host` of a request names this hub. A page of another site can have its own name lead to the hub (DNS rebinding), but it
// cannot have the browser send another `Host` than that name.

import { isIP } from 'node:net';
import { hostname } from 'node:os';

const maxKnownHosts = 1000;

/** Creates the check of a `Host`. The hub has every IP address, `localhost`, the name of this machine, and further names. */
export function createHostCheck(furtherNames: readonly string[]): (host: string) => boolean {
  const names = ownNames(furtherNames);
  const knownHosts = new Set<string>();
  const isKnownHost = (host: string) => {
    if (knownHosts.has(host)) return true;
    const name = hostName(host);
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

/** `Studio.local:17011` → `studio.local`, `[::1]:80` → `::1`. */
function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(host);
  return (bracketed?.[1] ?? host.replace(/:\d+$/, '')).toLowerCase().replace(/\.$/, '');
}
