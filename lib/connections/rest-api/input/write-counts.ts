// How many writes of clients a connection took and refused.

import { type ErrorCode, HubError } from '../../../model/error.ts';

export class WriteCounts {
  taken = 0;
  /** By the code of the error. */
  readonly refused = new Map<ErrorCode | 'internal', number>();

  refuse(error: unknown): void {
    this.refuseAs(error instanceof HubError ? error.code : 'internal');
  }

  refuseAs(code: ErrorCode | 'internal'): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
  }
}
