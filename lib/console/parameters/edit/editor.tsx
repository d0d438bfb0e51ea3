// Sets a parameter by hand. Its type decides whether by a switch, a number with steps, a text or a button.

import { createSignal, Match, Show, Switch } from 'solid-js';
import type { Value, ValueType } from '../../../client/index.ts';
import { messageOf } from '../../../model/error.ts';
import type { Access } from '../../../model/parameter.ts';
import { hub } from '../../hub/hub.ts';
import { whyReadOnly } from '../../hub/me.ts';
import { mistakeId } from './draft.ts';
import { NumberField } from './number-field.tsx';
import { TextField } from './text-field.tsx';

interface EditorProps {
  readonly address: string;
  readonly type: ValueType;
  readonly access: Access;
  readonly value: Value | undefined;
}

/** Each parameter has an editor of its own: nothing that was typed for one is ever written to another. */
export function Editor(props: EditorProps) {
  return (
    <Show when={`${props.address} ${props.type}`} keyed>
      {(_) => <OwnEditor {...props} address={props.address} />}
    </Show>
  );
}

function OwnEditor(props: EditorProps) {
  const { address, type } = props; // fixed, so that a late answer still belongs to this parameter
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
