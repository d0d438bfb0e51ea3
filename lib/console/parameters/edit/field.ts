// What the fields of an editor get: the value to follow, a way to write, and a place to say what is wrong.

import type { Value, ValueType } from '../../../client/index.ts';

export interface FieldProps {
  readonly address: string;
  readonly type: ValueType;
  readonly value: Value | undefined;
  /** Whether the last text that was typed cannot be set. */
  readonly isWrong: boolean;
  /** Writes; resolves with whether the hub carried it out. */
  set(value: Value): Promise<boolean>;
  /** Shows why nothing is written; empty: all is well again. */
  refuse(sentence: string): void;
}

/** The id of the element that says what is wrong with the text in the field. */
export const mistakeId = 'editor-mistake';
