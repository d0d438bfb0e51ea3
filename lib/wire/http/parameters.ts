// Parameters: the list of them, and how one is set.

import type { Access, Origin } from '../../model/parameter.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { IsoTime } from '../time.ts';

/**
 * `GET /hub/parameters` answers with a list of these:
 * `{"parameter":"desk/lamp","type":"B","access":"read-write","state":"known","value":true,"revision":7,"time":"2026-…","origin":{…}}`.
 */
export interface ParameterInfo {
  /** Its address. */
  readonly parameter: string;
  readonly type: ValueType;
  readonly access: Access;
  readonly state: 'known' | 'unknown';
  /** Left out while the state is unknown, and of a trigger. */
  readonly value?: Value | undefined;
  /** Those of the last change; left out when there was none. */
  readonly revision?: number | undefined;
  readonly time?: IsoTime | undefined;
  readonly origin?: Origin | undefined;
  /** The hub that owns it; left out: this one does. */
  readonly hub?: string | undefined;
  /** Since when nothing is heard of that hub; left out: the value is fresh. */
  readonly staleSince?: IsoTime | undefined;
}

/** `POST /update` takes `{"parameter":"desk/lamp","value":true}`. */
export interface Update {
  readonly parameter: string;
  readonly value: Value;
}

/** It answers, where JSON is accepted, with `{"p":"desk/lamp","v":true}`: the value after its conversion. */
export interface Updated {
  readonly p: string;
  readonly v: Value;
}
