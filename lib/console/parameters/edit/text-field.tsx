// A text of any length and any lines. Editing loses nothing of it. Enter sets a text of one line. In a text of several lines it
// begins a new line, as everywhere, and Ctrl+Enter sets.

import { createDraft, type FieldProps, mistakeId } from './draft.ts';
import { restoreLineBreaks, withLineFeeds } from './line-breaks.ts';

const mostRows = 12;

export function TextField(props: FieldProps) {
  const draft = createDraft(() => props.value as string | undefined);
  const shown = () => withLineFeeds(draft.text());
  const hasLines = () => shown().includes('\n');
  const write = async () => {
    const before = draft.text();
    if (!draft.isTyped() && props.value === undefined) return props.refuse('Its text is not known: type one.');
    const text = restoreLineBreaks(before, draft.entered() ?? before);
    if ((await props.set(text)) && draft.text() === before) draft.settle(text);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && draft.isTyped()) {
      event.stopPropagation();
      draft.settle((props.value as string | undefined) ?? '');
      props.refuse('');
    }
    if (event.key !== 'Enter' || event.isComposing || event.shiftKey || event.altKey) return;
    if (hasLines() && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    void write();
  };
  return (
    <form
      class="field text"
      onSubmit={(event) => {
        event.preventDefault();
        void write();
      }}
    >
      <textarea
        rows={Math.min(mostRows, shown().split('\n', mostRows).length)}
        autocomplete="off"
        spellcheck={false}
        aria-label={`Value of ${props.address}`}
        aria-invalid={props.isWrong}
        aria-describedby={mistakeId}
        classList={{ typed: draft.isTyped() }}
        value={shown()}
        onInput={(event) => {
          const { value } = event.currentTarget;
          const entered = draft.entered() ?? '';
          draft.type(value === withLineFeeds(entered) ? entered : value);
          props.refuse('');
        }}
        onFocus={draft.enter}
        onBlur={draft.leave}
        onKeyDown={press}
      />
      <button type="submit" class="main">
        Set
      </button>
      <small>{hasLines() ? 'Ctrl+Enter sets' : 'Enter sets, Shift+Enter begins a line'}</small>
    </form>
  );
}
