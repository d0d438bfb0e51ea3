// The form that creates a parameter from a variable, a feedback or an action of a driver module.

import { createSignal, For, Show } from 'solid-js';
import type { DriverAnswer } from '../../wire/http/driver-shapes.ts';
import { typeNames } from '../parameters/list/row.tsx';
import { DriverField, suggestionOf, writtenValue } from './driver-field.tsx';
import type { DriverMap, Settings } from './driver-map.ts';

export type Kind = 'variables' | 'feedbacks' | 'actions';
type Item = DriverAnswer['items'][number];
type Type = keyof typeof typeNames;

/** Returns the setting that names an item: `variable`. */
export const keyOf = (kind: Kind) => kind.slice(0, -1) as 'variable' | 'feedback' | 'action';

export default function ItemForm(props: {
  readonly kind: Kind;
  readonly item: Item;
  readonly map: DriverMap;
  /** The ID of the parameter that is being changed; undefined for a new parameter. */
  readonly parameter: string | undefined;
  close(): void;
}) {
  const { kind, item, map, parameter } = props;
  const isAction = kind === 'actions';
  const part = isAction ? 'writes' : 'values';
  const fields = item.fields ?? [];
  const own = (parameter === undefined ? {} : (map.entries(part)[parameter] ?? {})) as Settings;
  const textOf = (key: string) => String(own[key] ?? '');
  const [name, setName] = createSignal(
    parameter ?? freeName(item.id, { ...map.entries('values'), ...map.entries('writes') }),
  );
  const [options, setOptions] = createSignal<Settings>({
    ...Object.fromEntries(
      fields.map((field) => [field.id, isAction && fields.length === 1 ? writtenValue : suggestionOf(field)]),
    ),
    ...(own.options as Settings),
  });
  const [label, setLabel] = createSignal(textOf('label'));
  const [unit, setUnit] = createSignal(textOf('unit'));
  const [confirm, setConfirm] = createSignal(textOf('confirm'));
  const [chosen, setChosen] = createSignal(own.type as Type | undefined);
  const values = () => map.entries('values') as Readonly<Record<string, Settings>>;
  const usualType = (): Type => {
    if (!isAction) return kind === 'feedbacks' ? 'B' : 'S';
    const field = fields.find(({ id }) => String(options()[id]).includes(writtenValue));
    if (field === undefined) return 'T';
    if (field.type === 'checkbox') return 'B';
    const usual = suggestionOf(field);
    if (typeof usual !== 'number') return 'S';
    return Number.isInteger(usual) && Number.isInteger(field.step ?? 1) ? 'I' : 'F';
  };
  const type = () => chosen() ?? usualType();
  const types = Object.fromEntries(Object.entries(typeNames).filter(([one]) => isAction || one !== 'T'));
  const add = () => {
    const id = confirm() || name();
    const isUsual = type() === (isAction ? 'T' : kind === 'feedbacks' ? 'B' : 'S');
    const entry = {
      [keyOf(kind)]: item.id,
      ...(fields.length > 0 && { options: options() }),
      ...(!isUsual && !confirm() && { type: type() }),
      ...(confirm() && { confirm: confirm() }),
      ...(label() && { label: label() }),
      ...(unit() && !isAction && { unit: unit() }),
    };
    map.set(part, { ...(parameter !== undefined && parameter !== id && { [parameter]: undefined }), [id]: entry });
    props.close();
  };
  const Text = (field: {
    readonly label: string;
    readonly value: string;
    readonly needed?: boolean;
    set(value: string): void;
  }) => (
    <label>
      <span>{field.label}</span>
      <input
        type="text"
        autocomplete="off"
        required={field.needed}
        value={field.value}
        onInput={({ currentTarget: { value } }) => field.set(value.trim())}
      />
    </label>
  );
  const Select = (field: {
    readonly label: string;
    readonly value: string;
    readonly of: Readonly<Record<string, string>>;
    set(value: string): void;
  }) => (
    <label>
      <span>{field.label}</span>
      <select onChange={({ currentTarget: { value } }) => field.set(value)}>
        <For each={Object.entries(field.of)}>
          {([one, title]) => (
            <option value={one} selected={one === field.value}>
              {title}
            </option>
          )}
        </For>
      </select>
    </label>
  );
  return (
    <aside
      class="detail rule-sheet item"
      aria-label={item.id}
      tabIndex={-1}
      ref={(aside) => queueMicrotask(() => aside.focus())}
      onKeyDown={(event) => event.key === 'Escape' && props.close()}
    >
      <header>
        <h2>{item.name || item.id}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => props.close()}>
          ✕
        </button>
      </header>
      <p class="muted">
        {keyOf(kind)} <code>{item.id}</code>
      </p>
      <form
        class="item-fields"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <For each={fields}>
          {(field) => (
            <DriverField
              field={field}
              value={options()[field.id]}
              takesWritten={isAction}
              choose={(value) => setOptions({ ...options(), [field.id]: value })}
            />
          )}
        </For>
        <Show when={isAction}>
          <Select
            label="Confirmed by"
            value={confirm()}
            of={{
              '': 'nothing: the parameter is write-only',
              ...Object.fromEntries(Object.keys(values()).map((id) => [id, id])),
            }}
            set={setConfirm}
          />
        </Show>
        <Show when={!confirm()}>
          <Text label="Parameter ID" value={name()} needed set={setName} />
          <Select label="Type" value={type()} of={types} set={(one) => setChosen(one as Type)} />
        </Show>
        <Text label="Label" value={label()} set={setLabel} />
        <Show when={!isAction}>
          <Text label="Unit" value={unit()} set={setUnit} />
        </Show>
        <p class="fields">
          <button type="submit" class="main">
            {parameter === undefined ? 'Add to the map' : 'Change'}
          </button>
        </p>
      </form>
    </aside>
  );
}

/** Returns a Parameter ID for an item: `pgm1_input`, or `pgm1_input-2` if the map already has this ID. */
function freeName(id: string, taken: Settings): string {
  const plain = id.replaceAll(/[^\w/-]+/g, '_').replaceAll(/^\/+|\/+$/g, '') || 'value';
  for (let count = 1; ; count++) {
    const name = count === 1 ? plain : `${plain}-${count}`;
    if (!Object.hasOwn(taken, name)) return name;
  }
}
