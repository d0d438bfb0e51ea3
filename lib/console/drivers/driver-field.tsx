// A field of a form that a driver module describes: of its config, or an option of a feedback or action.

import { createUniqueId, For, type JSX, Match, Show, Switch } from 'solid-js';
import type { DriverFormField } from '../../wire/http/driver-shapes.ts';

export type { DriverFormField };
/** What stands for the written value in the options of an action. */
export const writtenValue = '{value}';

/** What a field has while nobody has chosen anything. */
export function suggestionOf({ type, default: suggested, min, choices }: DriverFormField): unknown {
  if (suggested !== undefined) return suggested;
  if (type === 'checkbox') return false;
  if (type === 'multidropdown') return [];
  return type === 'number' ? (min ?? 0) : (choices?.[0]?.id ?? '');
}

export function DriverField(props: {
  readonly field: DriverFormField;
  readonly value: unknown;
  /** Whether the settings lack it. */
  readonly isMissing?: boolean;
  /** Whether the written value can take its place. */
  readonly takesWritten?: boolean;
  choose(value: unknown): void;
}) {
  const id = createUniqueId();
  const isWritten = () => props.value === writtenValue;
  const name = () => props.field.label || props.field.id;
  return (
    <div class="labelled" data-field={props.field.id}>
      <label for={id} title={props.field.about}>
        {name()}{' '}
        <Show when={props.isMissing}>
          <strong class="error">missing</strong>
        </Show>
      </label>
      <div class="field">
        <Show when={!isWritten()} fallback={<output id={id}>the written value</output>}>
          <Input id={id} field={props.field} value={props.value} choose={props.choose} />
        </Show>
        <Show when={props.takesWritten}>
          <button
            type="button"
            aria-pressed={isWritten()}
            aria-label={`${name()}: the written value`}
            title="Use the value that is written to the parameter"
            onClick={() => props.choose(isWritten() ? suggestionOf(props.field) : writtenValue)}
          >
            {writtenValue}
          </button>
        </Show>
      </div>
    </div>
  );
}

function Input(props: {
  readonly id: string;
  readonly field: DriverFormField;
  readonly value: unknown;
  choose(value: unknown): void;
}): JSX.Element {
  const choices = () => props.field.choices ?? [];
  const type = () => props.field.type;
  const given = (text: string) => choices().find((one) => String(one.id) === text)?.id ?? text;
  const list = () => (Array.isArray(props.value) ? (props.value as unknown[]) : []);
  const isOpen = () => props.field.isOpen === true;
  return (
    <Switch
      fallback={
        <>
          <input
            id={props.id}
            type="text"
            autocomplete="off"
            list={`${props.id}-list`}
            value={String(props.value ?? '')}
            onInput={({ currentTarget: { value } }) => props.choose(isOpen() ? given(value) : value)}
          />
          <Show when={isOpen()}>
            <datalist id={`${props.id}-list`}>
              <For each={choices()}>{(one) => <option value={String(one.id)}>{one.label}</option>}</For>
            </datalist>
          </Show>
        </>
      }
    >
      <Match when={typeof props.value === 'object' && props.value !== null && !Array.isArray(props.value)}>
        <output id={props.id}>set in the file</output>
      </Match>
      <Match when={type().startsWith('secret')}>
        <p id={props.id}>
          Write it in the flow file: <code>{`secrets: { ${props.field.id}: { env: 'NAME' } }`}</code>
        </p>
      </Match>
      <Match when={type() === 'checkbox'}>
        <input
          id={props.id}
          type="checkbox"
          checked={props.value === true}
          onChange={({ currentTarget: { checked } }) => props.choose(checked)}
        />
      </Match>
      <Match when={type() === 'number'}>
        <input
          id={props.id}
          type="number"
          required
          min={props.field.min}
          max={props.field.max}
          step={props.field.step ?? 'any'}
          value={String(props.value ?? '')}
          onInput={({ currentTarget: { value } }) => props.choose(value === '' ? undefined : Number(value))}
        />
      </Match>
      <Match when={type() === 'multidropdown'}>
        <div id={props.id} role="group" aria-label={props.field.label}>
          <For each={choices()}>
            {(one) => (
              <label class="check">
                <input
                  type="checkbox"
                  checked={list().includes(one.id)}
                  onChange={({ currentTarget: { checked } }) =>
                    props.choose(checked ? [...list(), one.id] : list().filter((other) => other !== one.id))
                  }
                />{' '}
                {one.label}
              </label>
            )}
          </For>
        </div>
      </Match>
      <Match when={choices().length > 0 && !isOpen()}>
        <select id={props.id} onChange={({ currentTarget: { value } }) => props.choose(given(value))}>
          <Show when={!choices().some((one) => one.id === props.value)}>
            <option selected>{String(props.value ?? '')}</option>
          </Show>
          <For each={choices()}>
            {(one) => (
              <option value={String(one.id)} selected={one.id === props.value}>
                {one.label}
              </option>
            )}
          </For>
        </select>
      </Match>
    </Switch>
  );
}
