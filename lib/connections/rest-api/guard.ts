// Who may ask at all (design.md section 7): a Host that is ours (DNS rebinding), an Origin that is ours (cross-site
// requests and WebSocket hijacking), and credentials.

import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { HubError } from '../../model/error.ts';
import { encodeText, type HttpRequest } from '../../net/uws.ts';
import { createCredentials } from './credentials.ts';
import type { Settings } from './settings.ts';

export interface Guard {
  /**
   * Lets a request in, or throws; `isWrite` for requests that change something and for upgrades.
   * Errors: `foreign-host`, `foreign-origin`, `unauthorized`.
   */
  check(request: HttpRequest, isWrite: boolean): void;
  readonly challenges: readonly string[];
}

const hostHeader = encodeText('host');
const originHeader = encodeText('origin');
const maxKnownHosts = 1000;

export function createGuard(settings: Settings): Guard {
  const credentials = createCredentials(settings);
  const isOpen = credentials.challenges.length === 0;
  const names = ownNames(settings.allowedHosts);
  const origins = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase()));
  const knownHosts = new Set<string>();

  let lastHost: string | undefined; // nearly every request names the same one
  const isOwnHost = (host: string) => {
    if (host === lastHost) return true;
    if (!isKnownHost(host)) return false;
    lastHost = host;
    return true;
  };
  const isKnownHost = (host: string) => {
    if (knownHosts.has(host)) return true;
    const name = hostName(host);
    if (isIP(name) === 0 && !names.has(name)) return false;
    if (knownHosts.size < maxKnownHosts) knownHosts.add(host);
    return true;
  };

  return {
    challenges: credentials.challenges,
    check(request, isWrite) {
      const host = request.getHeader(hostHeader);
      if (!isOwnHost(host))
        throw new HubError('foreign-host', `Host: expected a name of this hub, got "${host}"; allowedHosts adds names`);
      const origin = request.getHeader(originHeader);
      if (origin !== '') {
        if (!isSameHost(origin, host) && !origins.has(origin.toLowerCase()))
          throw new HubError(
            'foreign-origin',
            `Origin: expected a page of this hub, got "${origin}"; allowedOrigins adds origins`,
          );
      } else if (isWrite) {
        const site = request.getHeader('sec-fetch-site');
        if (site !== '' && site !== 'same-origin' && site !== 'none')
          throw new HubError('foreign-origin', 'Sec-Fetch-Site: expected a page of this hub, got one of another site');
      }
      if (!isOpen && !credentials.accept(authorizationOf(request)))
        throw new HubError('unauthorized', 'Authorization: expected the credentials of this hub');
    },
  };
}

/**
 * The credentials of a request. Pages cannot set headers of a WebSocket handshake: they offer them as a subprotocol,
 * `patchbay.authorization.<what the header would hold, as base64url>`.
 */
function authorizationOf(request: HttpRequest): string {
  const header = request.getHeader('authorization');
  if (header !== '') return header;
  const [, encoded = ''] =
    /(?:^|[ ,])patchbay\.authorization\.([\w-]+)/.exec(request.getHeader('sec-websocket-protocol')) ?? [];
  return Buffer.from(encoded, 'base64url').toString();
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

function isSameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
