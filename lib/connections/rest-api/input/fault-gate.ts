// The gate that every error passes on its way to a client. A client is told its own mistakes, and of ours only that there was one.

import { HubError, messageOf } from '../../../model/error.ts';
import type { Log } from '../../connection.ts';

/** Any error as one of the catalogue. One that is not is a fault of ours: the log gets it, the client is told so. */
export function asHubError(error: unknown, log: Log): HubError {
  if (error instanceof HubError) return error;
  log.error({ err: error }, `a request failed: ${messageOf(error)}`, 'request');
  return new HubError('internal', 'the hub could not do that, its log says why', { cause: error });
}
