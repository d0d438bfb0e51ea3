// Why a parameter is as it is.

import type { Origin } from '../../model/parameter.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { IsoTime } from '../time.ts';

/** `GET /hub/explain/<address>` answers with `{"parameter":"desk/lamp","value":false,"chain":[…],"forgotten":0}`. */
export interface Explanation extends Causes {
  readonly parameter: string;
  /** What it would be by the rules that run in shadow; left out where they have not written it. */
  readonly would?: Causes | undefined;
  /** The value will not outlive the hub: who wrote it takes most of the room that the store has for values. Left out: it is kept, or no store is. */
  readonly isNotKept?: true | undefined;
}

/** A value, and what led to it. */
export interface Causes {
  /** Left out of a trigger. */
  readonly value?: Value | undefined;
  /** The last change, what caused it, and so on; what began it all is the last, unless some are forgotten. Empty: there was none. */
  readonly chain: readonly CausedChange[];
  /** How many changes before the last of the chain are not kept. */
  readonly forgotten: number;
}

/** `{"parameter":"desk/lamp","type":"B","value":false,"previous":true,"origin":{…},"revision":7,"time":"2026-…","afterMs":3000}`. */
export interface CausedChange {
  readonly parameter: string;
  readonly type: ValueType;
  /** Of a trigger 1. */
  readonly value: Value;
  /** Left out when it was unknown or equal, and of a trigger. */
  readonly previous?: Value | undefined;
  readonly origin: Origin;
  /** Left out when an equal value was written again. */
  readonly revision?: number | undefined;
  readonly time: IsoTime;
  /** Since its cause, ms; left out when it came from outside, or its cause is forgotten. */
  readonly afterMs?: number | undefined;
}
