// A field in a form that a driver module defines: a field of its config, or an option of a feedback or an action.

import { createUniqueId, For, Match, Show, Switch } from 'solid-js';
import type { DriverFormField } from '../../wire/http/driver-shapes.ts';

/** The text that stands for the written value in the options of an action. */
export const writtenValue = '{value}';

/** Returns the value of a field for which the user has not chosen a value. */
export function suggestionOf({ type, default: suggested, min = 0, choices }: DriverFormField): unknown {
  if (suggested !== undefined) return suggested;
  if (type === 'checkbox') return false;
  if (type === 'multidropdown') return [];
  return type === 'number' ? min : (choices?.[0]?.id ?? '');
}

export function DriverField(props: {
  readonly field: DriverFormField;
  readonly value: unknown;
  /** Whether the setting is missing. */
  readonly isMissing?: boolean;
  /** Whether the written value can be used for the field. */
  readonly takesWritten?: boolean;
  choose(value: unknown): void;
}) {
  const listId = createUniqueId();
  const name = () => props.field.label || props.field.id;
  const type = () => props.field.type;
  const isWritten = () => props.value === writtenValue;
  const choices = () => props.field.choices ?? [];
  const chosen = () => [props.value ?? []].flat() as unknown[];
  /** The choices, and the current value if it is not among them. */
  const offered = () => [
    ...choices(),
    ...chosen()
      .filter((one) => !choices().some(({ id }) => id === one))
      .map((id) => ({ id, label: String(id) })),
  ];
  const given = (text: string) => offered().find(({ id }) => String(id) === text)?.id ?? text;
  const read = ({ value, checked }: HTMLInputElement) => {
    if (type() === 'checkbox') return checked;
    if (type() === 'number') return value === '' ? undefined : Number(value);
    return given(value);
  };
  const isInFile = () => type().startsWith('secret') || chosen().some((one) => typeof one === 'object');
  return (
    <div class="field" data-field={props.field.id}>
      <label title={props.field.about}>
        <span>
          {name()}{' '}
          <Show when={props.isMissing}>
            <strong class="error">missing</strong>
          </Show>
        </span>
        <Switch
          fallback={
            <input
              type={['checkbox', 'number'].find((one) => one === type()) ?? 'text'}
              required={type() === 'number'}
              min={props.field.min}
              max={props.field.max}
              step={props.field.step ?? 'any'}
              autocomplete="off"
              list={listId}
              checked={props.value === true}
              value={String(props.value ?? '')}
              onInput={({ currentTarget }) => props.choose(read(currentTarget))}
            />
          }
        >
          <Match when={isWritten()}>
            <output>the written value</output>
          </Match>
          <Match when={isInFile()}>
            <code>{`in the flow file: secrets: { ${props.field.id}: { env: 'NAME' } }`}</code>
          </Match>
          <Match when={choices().length > 0 && !props.field.isOpen}>
            <select
              multiple={type() === 'multidropdown'}
              onChange={({ currentTarget: { selectedOptions } }) => {
                const all = [...selectedOptions].map(({ value }) => given(value));
                props.choose(type() === 'multidropdown' ? all : all[0]);
              }}
            >
              <For each={offered()}>
                {({ id, label }) => (
                  <option value={String(id)} selected={chosen().includes(id)}>
                    {label}
                  </option>
                )}
              </For>
            </select>
          </Match>
        </Switch>
        <Show when={props.field.isOpen}>
          <datalist id={listId}>
            <For each={choices()}>{({ id, label }) => <option value={String(id)}>{label}</option>}</For>
          </datalist>
        </Show>
      </label>
      <Show when={props.takesWritten}>
        <button
          type="button"
          aria-pressed={isWritten()}
          aria-label={`${name()}: the written value`}
          onClick={() => props.choose(isWritten() ? suggestionOf(props.field) : writtenValue)}
        >
          {writtenValue}
        </button>
      </Show>
    </div>
  );
}
