// The text in a field. The text follows the value until the field receives the focus, and then stays unchanged, so that selecting and
// typing are not disturbed. The text follows the value again when the user leaves the field without changes.
import { type Accessor, batch, createSignal } from 'solid-js';
import type { Value, ValueType } from '../../../client/index.ts';

export interface Draft {
  /** The text that the field currently contains. */
  readonly text: Accessor<string>;
  /** Whether the user has typed text that has not been set yet. */
  readonly isTyped: Accessor<boolean>;
  /** The text at the moment when the field received the focus; undefined if the text follows the value. */
  readonly entered: Accessor<string | undefined>;
  type(text: string): void;
  enter(): void;
  leave(): void;
  /** Ends the editing of the typed text, which was set. The field then contains `text`. */
  settle(text: string): void;
  /** Ends the editing of the typed text. The field then contains the newest value. */
  discard(): void;
}

/**
 * Creates the draft for a field. `followed` returns the value as text, or undefined if the value is unknown, in which case the field is
 * empty. `newest` returns the newest value in the same way, if `followed` may return an older value.
 */
export function createDraft(
  followed: Accessor<string | undefined>,
  newest: Accessor<string | undefined> = followed,
): Draft {
  const [typed, setTyped] = createSignal<string>();
  const [entered, setEntered] = createSignal<string>();
  let isInside = false;
  const follow = () => {
    setTyped(undefined);
    setEntered(undefined);
  };
  const settle = (text: string) =>
    // In one step, because another text in between would lose the selection.
    batch(() => {
      follow();
      if (isInside) setEntered(text);
    });
  return {
    text: () => typed() ?? entered() ?? followed() ?? '',
    isTyped: () => typed() !== undefined,
    entered,
    type: setTyped,
    enter() {
      isInside = true;
      if (typed() === undefined) setEntered(newest());
    },
    leave() {
      isInside = false;
      if (typed() === undefined || typed() === entered()) follow();
    },
    settle,
    discard: () => settle(newest() ?? ''),
  };
}

// The properties of a field: the value to follow, and functions to write and to report an error.

export interface FieldProps {
  readonly address: string;
  readonly type: ValueType;
  readonly value: Value | undefined;
  /** Whether the last typed text is invalid. */
  readonly isWrong: boolean;
  /** Writes a value. Resolves to whether the hub has accepted the write. */
  set(value: Value): Promise<boolean>;
  /** Shows a sentence that says why no value is written; an empty string removes the sentence. */
  refuse(sentence: string): void;
}

/** The id of the element that shows the field's error. */
export const mistakeId = 'editor-mistake';
