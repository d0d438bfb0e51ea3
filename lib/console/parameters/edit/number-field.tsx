// A number that people type, or change by steps. What they type stays a text until they set it (Enter, or the button). It is set as
// they meant it, or not at all. Esc takes it back.

import { type FieldProps, mistakeId } from './draft.ts';
import { createNumberDraft } from './number-draft.ts';

export function NumberField(props: FieldProps) {
  const draft = createNumberDraft(props);
  const { step, nudge } = draft;
  return (
    <form
      class="field"
      onSubmit={(event) => {
        event.preventDefault();
        draft.set();
      }}
    >
      <button type="button" aria-label={`Less by ${step}`} onClick={() => nudge(-step)}>
        −
      </button>
      <input
        type="text"
        role="spinbutton"
        autocomplete="off"
        spellcheck={false}
        enterkeyhint="done"
        aria-label={`Value of ${props.address}`}
        aria-valuenow={typeof props.value === 'number' ? props.value : undefined}
        aria-invalid={props.isWrong}
        aria-describedby={mistakeId}
        classList={{ typed: draft.isTyped() }}
        value={draft.text()}
        onInput={(event) => {
          draft.type(event.currentTarget.value);
          props.refuse('');
        }}
        onFocus={draft.enter}
        onBlur={draft.leave}
        onKeyDown={draft.press}
      />
      <button type="button" aria-label={`More by ${step}`} onClick={() => nudge(step)}>
        +
      </button>
      <button type="submit" class="main">
        Set
      </button>
    </form>
  );
}
