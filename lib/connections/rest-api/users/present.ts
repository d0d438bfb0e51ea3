// Whoever asks may have to leave before the answer is there: then the answer is that of somebody without credentials.

import { HubError } from '../../../model/error.ts';

/** The refusal of whoever is not let in, or no more. */
export function notLetIn(): HubError {
  return new HubError('unauthorized', 'Authorization: expected the credentials of this hub');
}

/** Errors: `unauthorized` when the visitor has left. */
export function expectPresent({ hasLeft }: { readonly hasLeft: boolean }): void {
  if (hasLeft) throw notLetIn();
}
