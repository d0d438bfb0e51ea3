// Who may take all that the hub has, flow files with their secrets included: whoever has its credentials. A hub without credentials gives
// it to programs on its own machine alone.

import { HubError } from '../../../../model/error.ts';
import type { HttpRequest } from '../../../../net/uws.ts';
import { shownAddress } from '../../proxies/address.ts';
import type { Settings } from '../../settings.ts';
import { isOpen } from '../../users/accounts.ts';

/** What proxies add to requests that they pass on: those come from this machine only as it seems. */
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/** Creates the check of a request that the guard has let in. Errors: `forbidden`. */
export function createOwnerCheck(settings: Settings) {
  const { allowedHosts, trustedProxies } = settings;
  const hasCredentials = !isOpen(settings);
  const isBehindProxy = allowedHosts.length + trustedProxies.length > 0;
  return (request: HttpRequest, address: string): void => {
    if (hasCredentials) return;
    const isPassedOn = isBehindProxy || proxyHeaders.some((header) => request.getHeader(header) !== '');
    if (isLoopback(address) && !isPassedOn) return;
    const expected = 'expected a hub with credentials, or a program on its machine that asks without a proxy';
    throw new HubError(
      'forbidden',
      `${request.getUrl()}: ${expected}, got ${shownAddress(address)}; users, username or token set credentials`,
    );
  };
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || /^(0000:){7}0001$/.test(address);
}
