// What errors are told as where JSON is accepted.

import type { ErrorCode } from '../../model/error.ts';

/** RFC 9457: `{"type":"about:blank","title":"Not found","status":404,"detail":"none: there is no such dashboard","code":"not-found"}`. */
export interface Problem {
  /** Always `about:blank`: `code` tells problems apart. */
  readonly type: string;
  /** That of the code. */
  readonly title: string;
  /** The HTTP status. */
  readonly status: number;
  /** One sentence: where, what was expected, what came. */
  readonly detail: string;
  readonly code: ErrorCode;
}
