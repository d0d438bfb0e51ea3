// Who did what: changes that came from outside of the hub, and what operators did with the hub itself.

import type * as model from '../../../model/reports/audit-entry.ts';
import type { IsoTime } from '../../time.ts';

export { type AuditKind, auditKinds } from '../../../model/reports/audit-entry.ts';

/** `GET /hub/audit?address=desk/*&limit=1` answers with `{"entries":[{"n":9,"time":"2026-…","kind":"change",…}],"next":9}`. */
export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[];
  /** What to ask for `before` to get the next page; left out of the last page. */
  readonly next?: number | undefined;
}

/** `{"n":9,"time":"2026-…","kind":"change","user":"api 10.0.0.3","address":"desk/lamp","before":false,"after":true,"count":1}` */
export interface AuditEntry extends Omit<model.AuditEntry, 'time'> {
  readonly time: IsoTime;
}
