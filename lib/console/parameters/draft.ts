// What is in a field: it follows the value until the field is entered, and then holds still, so that what is selected in it
// stays selected, and what is typed is not disturbed. Left as it was found, it follows again.

import { type Accessor, batch, createSignal } from 'solid-js';

export interface Draft {
  /** What the field shows. */
  readonly text: Accessor<string>;
  /** Whether somebody has typed something that is not set yet. */
  readonly isTyped: Accessor<boolean>;
  /** What was there when the field was entered; undefined: it follows. */
  readonly entered: Accessor<string | undefined>;
  type(text: string): void;
  enter(): void;
  leave(): void;
  /** What was typed has been set, or is given up; the field holds what is there then. */
  settle(text: string): void;
}

/** `followed` is the text of the value; undefined: it is unknown, and the field is empty. */
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
