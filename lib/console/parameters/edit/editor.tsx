// Sets a parameter. The parameter's type determines the control: a switch, a number with steps, a text field or a button.
import { createSignal, Match, Show, Switch } from 'solid-js';
import type { Value, ValueType } from '../../../client/index.ts';
import { messageOf } from '../../../model/error.ts';
import type { Access } from '../../../model/parameter.ts';
import { whyReadOnly } from '../../hub/me.ts';
import { hub } from '../../hub/page-hub.ts';
import { createDraft, type FieldProps, mistakeId } from './draft.ts';
import { restoreLineBreaks, withLineFeeds } from './line-breaks.ts';
import { createNumberDraft } from './number-draft.ts';

/** The properties of an editor: the parameter to edit, which must exist. */
export interface EditorProps {
  readonly address: string;
  readonly type: ValueType;
  readonly access: Access;
  readonly value: Value | undefined;
}

/**
 * The editor for one parameter. Each parameter has its own editor, so that text typed for one parameter is never written to another
 * parameter.
 */
export function Editor(props: EditorProps) {
  return (
    <Show when={`${props.address} ${props.type}`} keyed>
      {(_) => <OwnEditor {...props} address={props.address} />}
    </Show>
  );
}

function OwnEditor(props: EditorProps) {
  const { address, type } = props; // not reactive: a late answer still belongs to this parameter
  const readOnly = () => whyReadOnly(address, props.access);
  const [failure, setFailure] = createSignal('');
  const [done, setDone] = createSignal('');
  const refuse = (sentence: string) => {
    setFailure(sentence);
    setDone('');
  };
  const set = async (value: Value) => {
    refuse('');
    try {
      await hub.set(address, value);
      setDone(type === 'T' ? 'fired' : type === 'S' ? 'set' : `set to ${value}`);
      return true;
    } catch (error) {
      setFailure(messageOf(error));
      return false;
    }
  };
  const field = () => ({ address, type, value: props.value, isWrong: failure() !== '', set, refuse });
  return (
    <section class="editor" aria-label="Set by hand">
      <Show when={!readOnly()} fallback={<p class="muted">{readOnly()}</p>}>
        <Switch fallback={<NumberField {...field()} />}>
          <Match when={type === 'S'}>
            <TextField {...field()} />
          </Match>
          <Match when={type === 'B'}>
            <button
              type="button"
              class="switch"
              role="switch"
              aria-checked={props.value === true}
              aria-label={address}
              onClick={() => set(props.value !== true)}
            >
              <span class="knob" /> {props.value === true ? 'true' : props.value === false ? 'false' : 'unknown'}
            </button>
          </Match>
          <Match when={type === 'T'}>
            <button type="button" class="main" onClick={() => set(true)}>
              Fire
            </button>
          </Match>
        </Switch>
      </Show>
      <p role="alert" class="error" id={mistakeId}>
        {failure()}
      </p>
      <p role="status" class="muted">
        {done()}
      </p>
    </section>
  );
}

// A number to type, or to change by steps. Typed text is only set when the user presses Enter or the button. The number is set exactly as
// typed, or not at all. Esc discards the text.

function NumberField(props: FieldProps) {
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
      <button type="button" aria-label={`Decrease by ${step}`} onClick={() => nudge(-step)}>
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
      <button type="button" aria-label={`Increase by ${step}`} onClick={() => nudge(step)}>
        +
      </button>
      <button type="submit" class="main">
        Set
      </button>
    </form>
  );
}

// Text of any length and any number of lines, which editing preserves. If the text has one line, Enter sets it. If the text has several
// lines, Enter starts a new line, and Ctrl+Enter sets the text.

const mostRows = 12;

function TextField(props: FieldProps) {
  const draft = createDraft(() => props.value as string | undefined);
  const shown = () => withLineFeeds(draft.text());
  const hasLines = () => shown().includes('\n');
  const write = async () => {
    const before = draft.text();
    if (!draft.isTyped() && props.value === undefined) return props.refuse('The value is unknown: enter one.');
    const text = restoreLineBreaks(before, draft.entered() ?? before);
    if ((await props.set(text)) && draft.text() === before) draft.settle(text);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && draft.isTyped()) {
      event.stopPropagation();
      draft.discard();
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
      <small>{hasLines() ? 'Ctrl+Enter to set' : 'Enter to set, Shift+Enter for a new line'}</small>
    </form>
  );
}
