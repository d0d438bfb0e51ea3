// Rules, and the switch of one.

import type { RuleStatus } from '../../../model/reports/rule-status.ts';

/** `GET /hub/rules` answers with `[{"name":"lamp off","state":"running",…}]`, as the flow files order them. */
export type RuleList = readonly RuleStatus[];

/** `POST /hub/rules` takes `{"rule":"lamp off","enabled":false}` and answers with a `RuleStatus`. */
export interface RuleSwitch {
  /** Its name. */
  readonly rule: string;
  /** The flow file that it is in; left out: one rule alone has the name. */
  readonly file?: string | undefined;
  readonly enabled: boolean;
}
