// What a parameter was, as far as the store knows. All times are milliseconds since 1970: a plot wants numbers.

import type { Value, ValueType } from '../../../model/value.ts';

/** `GET /hub/history?filter=desk/` answers with the histories of the parameters whose address matches. */
export interface HistoryList {
  readonly histories: readonly History[];
  /** More parameters match. */
  readonly more?: true | undefined;
}

/** `GET /hub/history/desk/level` answers with `{"address":"desk/level","type":"F","from":…,"to":…,"kind":"raw","times":[…],…}`. */
export interface History {
  readonly address: string;
  readonly type: ValueType;
  readonly from: number;
  readonly to: number;
  readonly kind: HistoryKind;
  /** How long each bucket is; left out where there are none. */
  readonly stepMs?: number | undefined;
  /**
   * When each value began or each trigger fired; of buckets their start. The first may lie before `from`: it is the value that held
   * then. Buckets begin at multiples of `stepMs`, and the first and the last may reach beyond the range.
   */
  readonly times: readonly number[];
  /** Of raw values, intervals and texts: what held from then on; null: unknown. */
  readonly values?: readonly (Value | null)[] | undefined;
  /** Of buckets; null: nothing was known. `mean` weighs each value by how long it held; of booleans it is the share of true. */
  readonly min?: readonly (number | null)[] | undefined;
  readonly mean?: readonly (number | null)[] | undefined;
  readonly max?: readonly (number | null)[] | undefined;
  /** Of buckets: how many changes or fires there were. */
  readonly counts?: readonly number[] | undefined;
  /** When nothing was recorded, oldest first. What held before a gap is unknown within it. */
  readonly gaps: readonly HistoryGap[];
  /** Only the newest texts are here. */
  readonly more?: true | undefined;
}

/**
 * raw: numbers as they were; intervals: booleans as they were; texts; fires: when a trigger fired, or how often in each bucket; buckets:
 * min, mean and max of numbers and booleans.
 */
export type HistoryKind = 'raw' | 'intervals' | 'texts' | 'fires' | 'buckets';

/** `{"from":…,"to":…,"lost":0,"reason":"the hub was down"}`; `lost`: how many changes were not recorded, as far as is known. */
export interface HistoryGap {
  readonly from: number;
  readonly to: number;
  readonly lost: number;
  readonly reason: string;
}
