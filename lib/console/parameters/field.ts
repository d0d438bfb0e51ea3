// What the fields of an editor need: what they follow, how they write, and where they say what is wrong.

import type { Value, ValueType } from '../../client/index.ts';

export interface FieldProps {
  readonly address: string;
  readonly type: ValueType;
  readonly value: Value | undefined;
  /** Whether what was typed last cannot be set. */
  readonly isWrong: boolean;
  /** Writes; resolves with whether it was carried out. */
  set(value: Value): Promise<boolean>;
  /** Says why nothing is written; empty: all is well again. */
  refuse(sentence: string): void;
}

/** The id of the element that says what is wrong with what is in the field. */
export const mistakeId = 'editor-mistake';
