// Sets a parameter by hand: a switch, a number with steps, a text or a button, as its type asks for.

import { createSignal, type JSX, Match, Show, Switch } from 'solid-js';
import type { Value, ValueType } from '../../client/index.ts';
import { hub } from '../hub.ts';
import { messageOf } from '../request.ts';

interface EditorProps {
  readonly address: string;
  readonly type: ValueType;
  readonly access: string;
  readonly value: Value | undefined;
}

export function Editor(props: EditorProps) {
  const [failure, setFailure] = createSignal('');
  const [done, setDone] = createSignal('');
  const set = async (value: Value) => {
    setFailure('');
    setDone('');
    try {
      await hub.set(props.address, value);
      setDone(props.type === 'T' ? 'fired' : 'set');
    } catch (error) {
      setFailure(messageOf(error));
    }
  };
  return (
    <section class="editor" aria-label="Set by hand">
      <Show when={props.access !== 'read-only'} fallback={<p class="muted">Read-only: the hub alone sets it.</p>}>
        <Switch fallback={<Field {...props} set={set} />}>
          <Match when={props.type === 'B'}>
            <button
              type="button"
              class="switch"
              role="switch"
              aria-checked={props.value === true}
              aria-label={props.address}
              onClick={() => set(props.value !== true)}
            >
              <span class="knob" /> {props.value === true ? 'true' : props.value === false ? 'false' : 'unknown'}
            </button>
          </Match>
          <Match when={props.type === 'T'}>
            <button type="button" class="main" onClick={() => set(true)}>
              Fire
            </button>
          </Match>
        </Switch>
      </Show>
      <p role="alert" class="error">
        {failure()}
      </p>
      <p role="status" class="muted">
        {done()}
      </p>
    </section>
  );
}

/** A number or a text: follows the value until somebody types, and is sent by Enter or the button; Esc takes it back. */
function Field(props: EditorProps & { readonly set: (value: Value) => void }): JSX.Element {
  const [draft, setDraft] = createSignal<string>();
  const isNumber = () => props.type !== 'S';
  const step = () => (props.type === 'I' ? 1 : 0.1);
  const send = (event: Event) => {
    event.preventDefault();
    const text = draft() ?? String(props.value ?? '');
    props.set(isNumber() && text.trim() !== '' ? Number(text) : text);
    setDraft(undefined);
  };
  const nudge = (by: number) => props.set(Number((Number(props.value ?? 0) + by).toPrecision(12)));
  return (
    <form class="field" onSubmit={send}>
      <Show when={isNumber()}>
        <button type="button" aria-label={`Less by ${step()}`} onClick={() => nudge(-step())}>
          −
        </button>
      </Show>
      <input
        type={isNumber() ? 'number' : 'text'}
        step={props.type === 'I' ? 1 : 'any'}
        aria-label={`Value of ${props.address}`}
        value={draft() ?? String(props.value ?? '')}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || draft() === undefined) return;
          event.stopPropagation();
          setDraft(undefined);
        }}
      />
      <Show when={isNumber()}>
        <button type="button" aria-label={`More by ${step()}`} onClick={() => nudge(step())}>
          +
        </button>
      </Show>
      <button type="submit" class="main">
        Set
      </button>
    </form>
  );
}
