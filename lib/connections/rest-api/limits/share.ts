// Whose share of the hub's work a client counts towards: that of its user, wherever it comes from; without a user, that of its
// network.

import { networkOf } from './network.ts';

/** `user desk2`, `10.0.0.3`. */
export function shareOf({ name }: { readonly name: string }, address: string): string {
  return name === '' ? networkOf(address) : `user ${name}`;
}
