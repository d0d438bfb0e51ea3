// What the hub holds for HTTP clients until it can go on: bodies that are not whole, answers that are not read, pages that are being made. When
// the hub holds too much for all together, those of the user or network that holds most lose their connections.

import { type Account, type HeldKind, held } from '../../../../model/held-bytes.ts';
import type { HttpResponse } from '../../../../net/uws.ts';
import { networkOf } from '../../limits/network.ts';
import { remoteAddressOf } from '../../proxies/remote-address.ts';
import { servedHits } from './served-hits.ts';

/** Cuts the connection of a response, unless it is out. */
export function cut(response: HttpResponse): void {
  try {
    response.close();
  } catch {} // it is out, or its client has gone: the library takes no call any more
}

/**
 * Opens an account of what is held for the client of a response, which must be there. Whoever opens it sets it to 0 when nothing is held any more,
 * as when the client has gone. `share`: whose it is; left out: its network.
 */
export function holdFor(
  response: HttpResponse,
  kind: HeldKind & ('requests' | 'answers'),
  share = networkOf(remoteAddressOf(response)),
): Account {
  const client = remoteAddressOf(response);
  const hits = servedHits();
  const letGo = () => {
    account.set(0);
    hits?.add('heldBytes', client);
    setImmediate(cut, response); // the library may be in the middle of a call for it
  };
  const account: Account = held.open({ kind, owner: share, letGo });
  return account;
}
