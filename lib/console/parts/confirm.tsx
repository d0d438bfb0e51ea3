// Asks the user to confirm an action that affects other users.

import { createSignal } from 'solid-js';
import { t } from '../language/language.ts';

export interface Question {
  readonly title: string;
  readonly text: string;
  /** The label of the button that confirms the action. */
  readonly verb: string;
  act(): void;
}

/** Creates a confirmation dialog and the function that opens it. Leaving the dialog in any way other than confirming cancels the action. */
export function createConfirmation() {
  const [question, setQuestion] = createSignal<Question>();
  let dialog!: HTMLDialogElement;
  const ask = (asked: Question) => {
    setQuestion(asked);
    dialog.showModal();
  };
  const Confirmation = () => (
    <dialog
      ref={(element) => {
        dialog = element;
      }}
      aria-labelledby="question"
    >
      <h2 id="question">{question()?.title}</h2>
      <p>{question()?.text}</p>
      <form method="dialog" class="actions">
        <button type="submit">{t('Cancel')}</button>
        <button type="submit" class="cut" onClick={() => question()?.act()}>
          {question()?.verb}
        </button>
      </form>
    </dialog>
  );
  return { ask, Confirmation };
}
