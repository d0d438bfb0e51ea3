// The text of a field. It follows the value until the field gets the focus, and then stays unchanged, so selecting and typing are not
// disturbed. It follows again when the user leaves it unchanged.
import { type Accessor, batch, createSignal } from 'solid-js';
import type { Value, ValueType } from '../../../client/index.ts';

export interface Draft {
  /** The text in the field. */
  readonly text: Accessor<string>;
  /** Whether typed text is not set yet. */
  readonly isTyped: Accessor<boolean>;
  /** The text when the field got the focus; undefined if it follows. */
  readonly entered: Accessor<string | undefined>;
  type(text: string): void;
  enter(): void;
  leave(): void;
  /** The typed text was set or discarded. The field now holds `text`. */
  settle(text: string): void;
}

/** Creates the draft of a field. `followed` is the text of the value; undefined if the value is unknown, and the field is empty. */
export function createDraft(followed: Accessor<string | undefined>): Draft {
  const [typed, setTyped] = createSignal<string>();
  const [entered, setEntered] = createSignal<string>();
  let isInside = false;
  const follow = () => {
    setTyped(undefined);
    setEntered(undefined);
  };
  return {
    text: () => typed() ?? entered() ?? followed() ?? '',
    isTyped: () => typed() !== undefined,
    entered,
    type: setTyped,
    enter() {
      isInside = true;
      if (typed() === undefined) setEntered(followed());
    },
    leave() {
      isInside = false;
      if (typed() === undefined || typed() === entered()) follow();
    },
    settle(text) {
      // In one step: another text in between would lose the selection.
      batch(() => {
        follow();
        if (isInside) setEntered(text);
      });
    },
  };
}

// The properties of a field: the value to follow, and functions to write and to report an error.

export interface FieldProps {
  readonly address: string;
  readonly type: ValueType;
  readonly value: Value | undefined;
  /** Whether the last typed text is invalid. */
  readonly isWrong: boolean;
  /** Writes; resolves to whether the hub has accepted it. */
  set(value: Value): Promise<boolean>;
  /** Shows the reason why nothing is written; empty text clears the error. */
  refuse(sentence: string): void;
}

/** The id of the element with the error of the field. */
export const mistakeId = 'editor-mistake';
