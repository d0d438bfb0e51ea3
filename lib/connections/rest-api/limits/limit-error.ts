// The error that answers a client that has gone past a limit.

import { type ErrorCode, HubError } from '../../../model/error.ts';
import type { LimitName } from './limits.ts';

/** A client has gone past a limit, and is told so. */
export class LimitError extends HubError {
  readonly limit: LimitName;
  /** How long the client has to wait, in seconds; undefined: what its code says. */
  readonly retryAfterSeconds: number | undefined;

  constructor(limit: LimitName, code: ErrorCode, message: string, retryAfterSeconds?: number) {
    super(code, message, { where: limit });
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
