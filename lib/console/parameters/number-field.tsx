// A number that people type, or change by steps. What they type stays a text until they set it (Enter, or the button). It is set as
// they meant it, or not at all. Esc takes it back.

import { useDelay } from '../timers.ts';
import { createDraft } from './draft.ts';
import { type FieldProps, mistakeId } from './field.ts';
import { readTypedNumber } from './typed-number.ts';

/** A step adds to the one before for this long: what the hub tells meanwhile may be older than the steps. */
const settleMs = 500;
const digits = 15;

export function NumberField(props: FieldProps) {
  const isInteger = props.type === 'I';
  const step = isInteger ? 1 : 0.1;
  const draft = createDraft(() => (props.value === undefined ? undefined : String(props.value)));
  let stepped: number | undefined;
  const settling = useDelay();

  /** Returns the number in the field. Undefined: it has none, and the field says so. */
  const read = (): number | undefined => {
    const typed = readTypedNumber(draft.text(), isInteger);
    if ('value' in typed) return typed.value;
    props.refuse(typed.mistake);
    return undefined;
  };
  const write = async (value: number) => {
    const before = draft.text();
    const isDone = await props.set(value);
    if (isDone && draft.text() === before) draft.settle(String(value));
    return isDone;
  };
  const add = (by: number) => {
    const from = draft.isTyped() ? read() : (stepped ?? props.value ?? read());
    if (from === undefined) return undefined;
    return Number((Number(from) + by).toPrecision(digits));
  };
  const forget = () => {
    stepped = undefined;
  };
  const nudge = async (by: number) => {
    const next = add(by);
    if (next === undefined) return;
    stepped = next;
    settling.stop();
    if (!(await write(next))) forget();
    settling.start(settleMs, forget);
  };
  const press = (event: KeyboardEvent) => {
    const by = { ArrowUp: step, ArrowDown: -step }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      const next = add(by);
      if (next !== undefined) draft.type(String(next));
    } else if (event.key === 'Escape' && draft.isTyped()) {
      event.stopPropagation();
      draft.settle(String(props.value ?? ''));
      props.refuse('');
    }
  };
  return (
    <form
      class="field"
      onSubmit={(event) => {
        event.preventDefault();
        const value = read();
        if (value !== undefined) void write(value);
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
        onKeyDown={press}
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
