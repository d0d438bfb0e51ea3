// The flow files.

import type { FileReport } from '../../../model/reports/reload-report.ts';
import type { IsoTime } from '../../time.ts';

/**
 * `GET /hub/files` answers with what the last load or reload said:
 * `{"time":"2026-…","loaded":true,"reason":"","files":[{"path":"demo.json5","connections":2,"rules":5,"mistakes":[]}]}`.
 */
export interface LoadReport {
  readonly time: IsoTime;
  /** false: what ran before runs on. */
  readonly loaded: boolean;
  /** Why it was not loaded, one sentence; empty when it was. */
  readonly reason: string;
  readonly files: readonly FileReport[];
}
