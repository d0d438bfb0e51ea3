// What a module offers, in a form from which the console can create forms: the fields of the module's config, and its variables, feedbacks
// and actions with their options. A module may define 100,000 variables, so the hub asks for only a few at a time.

import type { DriverField, DriverItem, DriverKind, DriverPage, DriverQuestion } from '../../hub-port.ts';

export type Raw = Readonly<Record<string, unknown>>;
/** The definitions of a kind, keyed by ID, as the module provided them. */
export type Definitions = readonly (readonly [id: string, definition: Raw])[];

/** Everything that a module offers, up to a certain number of items of each kind. */
export interface Offers {
  readonly actions: readonly DriverItem[];
  readonly feedbacks: readonly DriverItem[];
  readonly variables: readonly DriverItem[];
  /** The total number of items that are left out. */
  readonly more: number;
}

/** The maximum number of fields in an item, of choices in a field, and of items in an answer. */
export const maxFields = 200;
export const maxChoices = 500;
export const maxListed = 200;
/** The maximum length of an answer to a question, in characters. */
export const maxAnswer = 262_144;
const maxDescribed = 2000;
const longestName = 300;
const longestValue = 500;

const shortText = (value: unknown, length = longestName) => String(value ?? '').slice(0, length);
const isRaw = (value: unknown): value is Raw => typeof value === 'object' && value !== null;
const numberOf = (name: string, value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? { [name]: value } : {};

/** Returns the fields of a form, without fields that only show text. */
export function fieldsOf(options: unknown): DriverField[] {
  if (!Array.isArray(options)) return [];
  return options
    .filter((field): field is Raw => isRaw(field) && field.type !== 'static-text')
    .slice(0, maxFields)
    .map((field) => ({
      id: shortText(field.id),
      type: shortText(field.type),
      label: shortText(field.label),
      ...(field.tooltip !== undefined && { about: shortText(field.tooltip) }),
      ...defaultOf(field.default),
      ...numberOf('min', field.min),
      ...numberOf('max', field.max),
      ...numberOf('step', field.step),
      ...(Array.isArray(field.choices) && { choices: choicesOf(field.choices) }),
      ...(field.allowCustom === true && { isOpen: true as const }),
    }));
}

/** Returns a default that a setting can hold: a string, a number, a boolean, or a list of these. */
function defaultOf(suggested: unknown): Pick<DriverField, 'default'> {
  const isPlain = (one: unknown) => ['string', 'number', 'boolean'].includes(typeof one);
  if (typeof suggested === 'string') return { default: shortText(suggested) };
  if (isPlain(suggested)) return { default: suggested };
  return Array.isArray(suggested) && suggested.length <= maxChoices && suggested.every(isPlain)
    ? { default: suggested }
    : {};
}

function choicesOf(choices: readonly unknown[]): NonNullable<DriverField['choices']> {
  return choices
    .filter(isRaw)
    .slice(0, maxChoices)
    .map(({ id, label }) => ({
      id: typeof id === 'number' || typeof id === 'boolean' ? id : shortText(id),
      label: shortText(label ?? id),
    }));
}

function itemOf(id: string, { name, type }: Raw): DriverItem {
  return { id: shortText(id), name: shortText(name), ...(typeof type === 'string' && { kind: shortText(type) }) };
}

/** Describes a whole module, up to a certain number of items of each kind. */
export function describeAll(definitionsOf: (kind: DriverKind) => Definitions): Offers {
  const all = (kind: DriverKind, withFields = true) =>
    definitionsOf(kind)
      .slice(0, maxDescribed)
      .map(([id, one]) => ({ ...itemOf(id, one), ...(withFields && { fields: fieldsOf(one.options) }) }));
  const kinds = ['actions', 'feedbacks', 'variables'] as const;
  return {
    actions: all('actions'),
    feedbacks: all('feedbacks'),
    variables: all('variables', false),
    more: kinds.reduce((sum, kind) => sum + Math.max(0, definitionsOf(kind).length - maxDescribed), 0),
  };
}

/** Answers a question; `find` returns the value of a variable. */
export function answerOf(
  { kind, search, from, count, item }: DriverQuestion,
  definitions: Definitions,
  find: (variable: string) => unknown,
): DriverPage {
  if (item !== undefined) {
    const found = definitions.find(([id]) => id === item);
    if (found === undefined) return { total: 0, items: [] };
    const [id, definition] = found;
    const whole = { ...itemOf(id, definition), fields: fieldsOf(definition.options) };
    const isLong = JSON.stringify(whole).length > maxAnswer / 2;
    return { total: 1, items: [isLong ? { ...whole, fields: whole.fields.map(withoutChoices) } : whole] };
  }
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found =
    words.length === 0
      ? definitions
      : definitions.filter(([id, { name }]) => {
          const text = `${id} ${name ?? ''}`.toLowerCase();
          return words.every((word) => text.includes(word));
        });
  const items = found.slice(from, from + Math.min(count, maxListed)).map(([id, definition]) => ({
    ...itemOf(id, definition),
    ...(kind === 'variables' && shownValue(find(id))),
  }));
  return { total: found.length, items };
}

function withoutChoices({ choices: _, ...field }: DriverField): DriverField {
  return field;
}

function shownValue(value: unknown): Pick<DriverItem, 'value'> {
  if (value === undefined || value === null) return {};
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return { value };
  return { value: shortText(typeof value === 'object' ? JSON.stringify(value) : value, longestValue) };
}
