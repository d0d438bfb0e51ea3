// The form for the settings of a widget or the panel, generated from the schema of the widget's type. It shows only the settings that
// exist, each with its errors.

import { createUniqueId, For, Index, type JSX, Match, Show, Switch } from 'solid-js';
import { readJson5, writeJson5 } from '../editor/json5-text.ts';
import { AddressField } from '../parts/address-input.tsx';
import type { useEdits } from './edits.ts';
import { type Item, isObject, textOf } from './panel-data.ts';
import { emptyValue, isAddress, plain, type Schema, type Setting } from './widget-kinds.ts';

interface FieldProps {
  readonly label: string;
  readonly schema: Schema;
  readonly value: unknown;
  readonly isWrong: boolean;
  /** Changes the setting's value; undefined removes the setting. */
  change(value: unknown): void;
}

export function SettingsForm(props: {
  readonly settings: readonly Setting[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly isLocked: boolean;
  errorsOf(name: string): readonly string[];
  change(name: string, value: unknown): void;
}) {
  return (
    <fieldset class="settings" disabled={props.isLocked}>
      <For each={props.settings}>
        {({ name, schema, isRequired }) => (
          <div class="setting" title={schema.description}>
            <span class="name">
              {name}
              {isRequired ? ' *' : ''}
            </span>
            <Field
              label={name}
              schema={schema}
              value={props.values[name]}
              isWrong={props.errorsOf(name).length > 0}
              change={(value) => props.change(name, value)}
            />
            <For each={props.errorsOf(name)}>{(error) => <p class="error">{error}</p>}</For>
          </div>
        )}
      </For>
    </fieldset>
  );
}

/** A form for the tabs of a widget: their names and their order. */
export function TabsForm(props: {
  readonly item: Item;
  readonly isLocked: boolean;
  errorsOf(index: number): readonly string[];
  readonly edits: Pick<ReturnType<typeof useEdits>, 'addTab' | 'moveTab' | 'nameTab' | 'removeTab'>;
}) {
  const tabs = () => (Array.isArray(props.item.widget.tabs) ? (props.item.widget.tabs as readonly unknown[]) : []);
  const nameOf = (tab: unknown) => (isObject(tab) ? textOf(tab.label) : '');
  return (
    <fieldset class="settings" disabled={props.isLocked || props.item.made > 0}>
      <div class="setting">
        <span class="name">tabs *</span>
        <div class="list">
          <Index each={tabs()}>
            {(tab, index) => (
              <>
                <span class="entry">
                  <input
                    type="text"
                    aria-label={`Name of tab ${index + 1}`}
                    aria-invalid={props.errorsOf(index).length > 0}
                    value={nameOf(tab())}
                    onInput={(event) => props.edits.nameTab(props.item, index, event.currentTarget.value)}
                  />
                  <button
                    type="button"
                    class="quiet"
                    disabled={index === 0}
                    aria-label={`Move tab ${index + 1} to the left`}
                    onClick={() => props.edits.moveTab(props.item, index)}
                  >
                    ←
                  </button>
                  <button
                    type="button"
                    class="quiet"
                    disabled={tabs().length === 1}
                    aria-label={`Remove tab ${index + 1} and its widgets`}
                    onClick={() => props.edits.removeTab(props.item, index)}
                  >
                    ×
                  </button>
                </span>
                <For each={props.errorsOf(index)}>{(error) => <p class="error">{error}</p>}</For>
              </>
            )}
          </Index>
          <button type="button" class="quiet" aria-label="Add a tab" onClick={() => props.edits.addTab(props.item)}>
            +
          </button>
        </div>
      </div>
    </fieldset>
  );
}

function Field(props: FieldProps): JSX.Element {
  const { schema } = props;
  const items = typeof schema.items === 'object' ? plain(schema.items) : undefined;
  const isVariable = () => typeof props.value === 'string' && props.value.includes('${');
  return (
    <Switch fallback={<AnyField {...props} />}>
      <Match when={isAddress(schema)}>
        <AddressField
          label={props.label}
          address={textOf(props.value)}
          isWrong={props.isWrong}
          choose={(address) => props.change(address === '' ? undefined : address)}
        />
      </Match>
      <Match when={isVariable() || (schema.type === 'string' && schema.enum === undefined)}>
        <TextField {...props} />
      </Match>
      <Match when={schema.enum}>
        {(options) => (
          <select
            aria-label={props.label}
            aria-invalid={props.isWrong}
            onChange={(event) => props.change(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
          >
            <Show when={schema.default === undefined || !options().includes(schema.default)}>
              <option value="" selected={props.value === undefined} />
            </Show>
            <For each={options()}>
              {(option) => (
                <option value={String(option)} selected={(props.value ?? schema.default) === option}>
                  {String(option)}
                </option>
              )}
            </For>
          </select>
        )}
      </Match>
      <Match when={schema.type === 'boolean'}>
        <input
          type="checkbox"
          aria-label={props.label}
          checked={Boolean(props.value ?? schema.default)}
          onChange={(event) => {
            const isOn = event.currentTarget.checked;
            props.change(isOn === (schema.default ?? false) ? undefined : isOn);
          }}
        />
      </Match>
      <Match when={schema.type === 'number' || schema.type === 'integer'}>
        <NumberField {...props} />
      </Match>
      <Match when={schema.prefixItems}>{(parts) => <TupleField {...props} parts={parts()} />}</Match>
      <Match when={schema.type === 'array' && items}>{(item) => <ListField {...props} item={item()} />}</Match>
      <Match when={schema.type === 'object' && schema.properties}>
        {(properties) => <ObjectField {...props} properties={properties()} />}
      </Match>
      <Match when={typeof schema.additionalProperties === 'object' && schema.additionalProperties}>
        {(item) => <RecordField {...props} item={plain(item())} />}
      </Match>
    </Switch>
  );
}

function TextField(props: FieldProps) {
  return (
    <input
      type="text"
      aria-label={props.label}
      aria-invalid={props.isWrong}
      maxLength={props.schema.maxLength}
      placeholder={placeholderOf(props.schema)}
      title={placeholderOf(props.schema) || undefined}
      value={textOf(props.value)}
      onInput={(event) => props.change(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
    />
  );
}

function NumberField(props: FieldProps) {
  return (
    <input
      type="number"
      step="any"
      aria-label={props.label}
      aria-invalid={props.isWrong}
      min={props.schema.minimum}
      max={props.schema.maximum}
      placeholder={placeholderOf(props.schema)}
      title={placeholderOf(props.schema) || undefined}
      value={textOf(props.value)}
      onInput={(event) => {
        const { value, valueAsNumber, validity } = event.currentTarget;
        if (validity.badInput) return;
        props.change(value === '' ? undefined : valueAsNumber);
      }}
    />
  );
}

function placeholderOf({ default: usual, description = '' }: Schema): string {
  const isShown = usual !== undefined && usual !== '' && typeof usual !== 'object';
  return isShown ? String(usual) : (/[Dd]efault: (.*)$/.exec(description)?.[1] ?? '');
}

/** A field for a string, a number, true or false, written as in JSON5 but without quotes around strings. */
function AnyField(props: FieldProps) {
  const shown = () => {
    if (props.value === undefined) return '';
    const isPlain = typeof props.value === 'string' && typeof readJson5(props.value) === 'undefined';
    return isPlain ? String(props.value) : writeJson5(props.value);
  };
  return (
    <input
      type="text"
      aria-label={props.label}
      aria-invalid={props.isWrong}
      value={shown()}
      onChange={(event) => {
        const typed = event.currentTarget.value.trim();
        props.change(typed === '' ? undefined : (readJson5(typed) ?? typed));
      }}
    />
  );
}

function TupleField(props: FieldProps & { readonly parts: readonly Schema[] }) {
  const values = () => (Array.isArray(props.value) ? props.value : []) as readonly unknown[];
  const usual = () => (Array.isArray(props.schema.default) ? props.schema.default : []) as readonly unknown[];
  return (
    <span class="tuple">
      <For each={props.parts}>
        {(part, index) => (
          <Field
            label={`${props.label} ${index() + 1}`}
            schema={{ ...plain(part), default: usual()[index()] }}
            value={values()[index()]}
            isWrong={props.isWrong}
            change={(value) => {
              const next = props.parts.map((one, at) =>
                at === index() ? value : (values()[at] ?? usual()[at] ?? emptyValue(plain(one))),
              );
              props.change(value === undefined ? undefined : next);
            }}
          />
        )}
      </For>
    </span>
  );
}

function ListField(props: FieldProps & { readonly item: Schema }) {
  const values = () => (Array.isArray(props.value) ? props.value : []) as readonly unknown[];
  const change = (next: readonly unknown[]) => props.change(next.length === 0 ? undefined : next);
  return (
    <div class="list">
      <Index each={values()}>
        {(value, index) => (
          <span class="entry">
            <Field
              label={`${props.label} ${index + 1}`}
              schema={props.item}
              value={value()}
              isWrong={props.isWrong}
              change={(next) => change(values().with(index, next ?? ''))}
            />
            <button
              type="button"
              class="quiet"
              aria-label={`Remove ${props.label} ${index + 1}`}
              onClick={() => change(values().toSpliced(index, 1))}
            >
              ×
            </button>
          </span>
        )}
      </Index>
      <Show when={values().length < (props.schema.maxItems ?? 100)}>
        <button
          type="button"
          class="quiet"
          aria-label={`Add to ${props.label}`}
          onClick={() => change([...values(), emptyValue(props.item)])}
        >
          +
        </button>
      </Show>
    </div>
  );
}

function ObjectField(props: FieldProps & { readonly properties: Readonly<Record<string, Schema>> }) {
  const values = () => (isObject(props.value) ? props.value : {});
  /** Whether a part is a list or has parts itself. If so, each of these parts has a line with its name. */
  const isDeep = Object.values(props.properties).some((schema) => /array|object/.test(String(plain(schema).type)));
  return (
    <span class={isDeep ? 'list' : 'entry'}>
      <For each={Object.entries(props.properties)}>
        {([name, schema]) => (
          <span class={isDeep ? 'part' : 'bare'}>
            <Show when={isDeep}>
              <small>{name}</small>
            </Show>
            <Field
              label={`${props.label}: ${name}`}
              schema={plain(schema)}
              value={values()[name]}
              isWrong={props.isWrong}
              change={(value) => {
                const { [name]: _, ...others } = values();
                props.change(value === undefined ? others : { ...values(), [name]: value });
              }}
            />
          </span>
        )}
      </For>
    </span>
  );
}

function RecordField(props: FieldProps & { readonly item: Schema }) {
  const id = createUniqueId();
  const entries = () => Object.entries(isObject(props.value) ? props.value : {});
  const change = (next: readonly (readonly [string, unknown])[]) =>
    props.change(next.length === 0 ? undefined : Object.fromEntries(next));
  return (
    <div class="list">
      <Index each={entries()}>
        {(entry, index) => (
          <span class="entry">
            <input
              type="text"
              aria-label={`${props.label} ${index + 1}: value`}
              value={entry()[0]}
              onChange={(event) => change(entries().with(index, [event.currentTarget.value, entry()[1]]))}
            />
            <Field
              label={`${props.label} ${index + 1}`}
              schema={props.item}
              value={entry()[1]}
              isWrong={props.isWrong}
              change={(value) => change(entries().with(index, [entry()[0], value ?? '']))}
            />
            <button
              type="button"
              class="quiet"
              aria-label={`Remove ${props.label} ${index + 1}`}
              onClick={() => change(entries().toSpliced(index, 1))}
            >
              ×
            </button>
          </span>
        )}
      </Index>
      <button
        type="button"
        class="quiet"
        id={id}
        aria-label={`Add to ${props.label}`}
        onClick={() => change([...entries(), [freeKey(entries().map(([key]) => key)), emptyValue(props.item)]])}
      >
        +
      </button>
    </div>
  );
}

function freeKey(keys: readonly string[]): string {
  const usual = ['true', 'false'].find((key) => !keys.includes(key));
  let number = 1;
  while (keys.includes(String(number))) number++;
  return usual ?? String(number);
}
