// What happened to a parameter, who did it and why, as far as the store knows.

import type { Origin } from '../../../model/parameter.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import type { IsoTime } from '../../time.ts';

/** `GET /hub/events/desk/lamp` answers with `{"address":"desk/lamp","type":"B","events":[…],"next":"1795…-7"}`. */
export interface EventList {
  readonly address: string;
  readonly type: ValueType;
  /** Newest first. */
  readonly events: readonly HistoryEvent[];
  /** What to ask for `before` next time; left out: there are no older ones in the range. */
  readonly next?: string | undefined;
}

/** `{"time":"2026-…","value":true,"previous":false,"writer":{…},"source":{…},"chain":[…]}`. */
export interface HistoryEvent {
  readonly time: IsoTime;
  /** Of a trigger 1. */
  readonly value: Value;
  /** Left out of a trigger, and when it is not known. */
  readonly previous?: Value | undefined;
  /** What wrote it: a rule. */
  readonly writer: Origin;
  /** Who did it: what wrote the change that began it all. */
  readonly source: Origin;
  /** The changes that led to it, newest first, as far as they were recorded, at most 20. */
  readonly chain: readonly HistoryCause[];
}

/** `{"parameter":"desk/mic","type":"B","value":true,"time":"2026-…","writer":{…}}`. */
export interface HistoryCause {
  readonly parameter: string;
  readonly type: ValueType;
  readonly value: Value;
  readonly time: IsoTime;
  readonly writer: Origin;
}
