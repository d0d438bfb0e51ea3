// The error that answers a client that has gone past a limit.

import { type ErrorCode, HubError } from '../../../model/error.ts';
import type { LimitName } from './limits.ts';

/** A client has gone past a limit, and is told so. */
export class LimitError extends HubError {
  readonly limit: LimitName;

  constructor(limit: LimitName, code: ErrorCode, message: string) {
    super(code, message, { where: limit });
    this.limit = limit;
  }
}
