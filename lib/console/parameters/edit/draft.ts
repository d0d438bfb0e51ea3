// The text of a field. It follows the value until somebody enters the field, and then holds still: nothing disturbs what people
// select or type in it. It follows again when they leave it as they found it.
import { type Accessor, batch, createSignal } from 'solid-js';
import type { Value, ValueType } from '../../../client/index.ts';

export interface Draft {
  /** The text that the field shows. */
  readonly text: Accessor<string>;
  /** Whether somebody has typed something that is not set yet. */
  readonly isTyped: Accessor<boolean>;
  /** The text at the time when somebody entered the field; undefined: it follows. */
  readonly entered: Accessor<string | undefined>;
  type(text: string): void;
  enter(): void;
  leave(): void;
  /** Somebody has set what was typed, or given it up. The field now holds the present text. */
  settle(text: string): void;
}

/** `followed` is the text of the value. Undefined: the value is unknown, and the field is empty. */
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
      // In one step: a field that shows something else in between loses what is selected in it.
      batch(() => {
        follow();
        if (isInside) setEntered(text);
      });
    },
  };
}

// What the fields of an editor get: the value to follow, a way to write, and a place to say what is wrong.

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
