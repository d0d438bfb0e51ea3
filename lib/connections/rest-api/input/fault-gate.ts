// The gate that every error passes on its way to a client. It tells clients their own mistakes, and of ours only that there was one.

import { HubError, messageOf } from '../../../model/error.ts';
import type { Log } from '../../connection.ts';

/** Returns an error of the catalogue. Any other error is a fault of ours: the log tells it, and the client is told to look there. */
export function asHubError(error: unknown, log: Log): HubError {
  if (error instanceof HubError) return error;
  log.error({ err: error }, `a request failed: ${messageOf(error)}`, 'request');
  return new HubError('internal', 'the hub could not do that, its log says why', { cause: error });
}
