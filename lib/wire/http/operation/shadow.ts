// Reloads, and what would have been done in shadow beside what was done.

import type { Origin } from '../../../model/parameter.ts';
import type * as model from '../../../model/reports/reload-report.ts';
import type { Reload } from '../../../model/reports/reload-report.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import type { IsoTime } from '../../time.ts';

/** `POST /hub/reload` takes `{"shadow":true}`, or `{}`, and answers with a `ReloadAnswer`. */
export interface ReloadRequest {
  /** true: what the flow files have changed runs in shadow, and so does what is saved from then on, until a reload without. */
  readonly shadow?: boolean | undefined;
}

/** `{"swapped":{"connections":{…},"rules":{…}}}`, or `{"shadow":{…}}`. */
export interface ReloadAnswer {
  readonly swapped?: Reload | undefined;
  readonly shadow?: ShadowReport | undefined;
}

/** `GET /hub/shadow` answers with `{"kind":"rules","rules":["lamp"],"count":1,"deviations":[…],…}`. */
export interface ShadowReport extends Omit<model.ShadowReport, 'since' | 'kind' | 'deviations'> {
  /** none: nothing is in shadow. */
  readonly kind: model.ShadowReport['kind'] | 'none';
  readonly since: IsoTime;
  readonly deviations: readonly Deviation[];
}

export type { DeviationCount } from '../../../model/reports/reload-report.ts';

/** `{"time":"2026-…","parameter":"desk/lamp","type":"B","done":{"value":false,"origin":{…}},"would":{"value":true,"origin":{…}}}`. */
export interface Deviation {
  readonly time: IsoTime;
  readonly parameter: string;
  readonly type: ValueType;
  readonly done: DeviationSide;
  readonly would: DeviationSide;
}

/** Of a trigger, `value` is how often it fired. */
export interface DeviationSide {
  /** Left out: unknown. */
  readonly value?: Value | undefined;
  readonly origin?: Origin | undefined;
}
