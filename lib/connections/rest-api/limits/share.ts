// Whose share a client takes of what the hub does for clients: that of its user, wherever it comes from; of those who are nobody in
// particular, that of their network.

import { networkOf } from './network.ts';

/** `user desk2`, `10.0.0.3`. */
export function shareOf({ name }: { readonly name: string }, address: string): string {
  return name === '' ? networkOf(address) : `user ${name}`;
}
