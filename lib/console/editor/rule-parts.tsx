// The parts of a rule as a form: its sources, conditions, written values, timing and destinations.

import { createMemo, createSignal, For, Index, type JSX, Show } from 'solid-js';
import type { ValueType } from '../../client/index.ts';
import type { LiveValues } from '../hub/live-values.ts';
import { formatValue } from '../page/units.ts';
import { AddressField } from '../parts/address-input.tsx';
import { Choice } from '../parts/choice.tsx';
import {
  type Comparison,
  comparisonNames,
  comparisons,
  type Literal,
  type Row,
  type Rows,
  readLiteral,
  readRows,
  writeLiteral,
  writeRow,
  writeRows,
} from './conditions.ts';
import { Evaluated, type Scope } from './evaluated.tsx';
import { readJson5, writeJson5 } from './json5-text.ts';
import {
  isNamed,
  isSplit,
  otherSteps,
  type Rule,
  type Step,
  sourcesOf,
  targetsOf,
  timeSteps,
  withFurtherSource,
  withNames,
  withoutNames,
  withoutSource,
  withSettings,
  withSourceAddress,
  withSourceName,
  withTargets,
} from './rule-fields.ts';
import { TextField } from './template-field.tsx';

/** The properties that all parts of the form share. */
export interface PartProps {
  readonly rule: Rule;
  readonly values: LiveValues;
  /** Returns the errors in a setting, such as `from` or `pipe[0]`, and in everything within that setting. */
  errorsOf(setting: string): readonly string[];
  /** Returns a string in which each `${…}` is replaced with its value. */
  expand(text: string): string;
  change(rule: Rule): void;
}

const typeWords: Readonly<Record<ValueType, string>> = {
  B: 'true or false',
  I: 'integer',
  F: 'number',
  S: 'text',
  T: 'trigger',
};

/** Shows the current value and the type of a parameter. */
function Live(props: Pick<PartProps, 'values' | 'expand'> & { readonly address: string }) {
  const cell = createMemo(() => props.values.of(props.expand(props.address)));
  const type = () => cell().kind()?.type;
  return (
    <output class="now">
      <Show when={type()} fallback={props.address !== '' && props.values.isComplete() ? 'no such parameter' : ''}>
        {(known) => (
          <>
            <Show when={known() !== 'T'}>
              <strong class="mono">
                {cell().value() === undefined ? 'unknown' : formatValue(cell().value())}
              </strong>{' '}
            </Show>
            <small>{typeWords[known()]}</small>
          </>
        )}
      </Show>
    </output>
  );
}

/** Shows an address, either as a string or with its template variables as pieces. */
function Address(
  props: Pick<PartProps, 'expand'> & {
    readonly label: string;
    readonly address: string;
    readonly isWrong?: boolean;
    readonly placeholder?: string;
    choose(address: string): void;
  },
) {
  return (
    <TextField {...props} isAddress text={props.address} change={props.choose} plain={<AddressField {...props} />} />
  );
}

/** Shows the errors in a part, directly below the part. */
function Errors(props: { readonly list: readonly string[] }) {
  return (
    <For each={props.list}>
      {(message) => (
        <p class="error" role="alert">
          {message}
        </p>
      )}
    </For>
  );
}

function Part(props: { readonly title: string; readonly errors: readonly string[]; readonly children: JSX.Element }) {
  return (
    <fieldset>
      <legend>{props.title}</legend>
      {props.children}
      <Errors list={props.errors} />
    </fieldset>
  );
}

function Remove(props: { readonly what: string; press(): void }) {
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`Remove ${props.what}`}
      title="Remove"
      onClick={() => props.press()}
    >
      ✕
    </button>
  );
}

/** Returns a handler that adds an entry to a part and moves the focus to the new field, so that the user can continue to type. */
function adds(add: () => void): (event: { readonly currentTarget: HTMLElement }) => void {
  return ({ currentTarget }) => {
    const part = currentTarget.closest('fieldset')!;
    const fields = () => [...part.querySelectorAll<HTMLElement>('input, select, textarea')];
    const before = new Set(fields());
    add();
    const added = fields().filter((field) => !before.has(field));
    (added.find(({ classList }) => classList.contains('address')) ?? added[0])?.focus();
  };
}

export function WhenPart(props: PartProps) {
  const ends = () => sourcesOf(props.rule);
  return (
    <Part title="When" errors={props.errorsOf('from')}>
      <Index each={ends()}>
        {(end, index) => (
          <div class="fields">
            <Show when={isNamed(props.rule)}>
              <input
                type="text"
                class="short mono"
                aria-label={`Name of source ${index + 1} in expressions`}
                value={end().name}
                spellcheck={false}
                onChange={(event) => props.change(withSourceName(props.rule, index, event.currentTarget.value.trim()))}
              />
              <span aria-hidden="true">=</span>
            </Show>
            <Address
              expand={props.expand}
              label={`Source ${index + 1}`}
              placeholder="desk/mic"
              address={end().address}
              isWrong={props.errorsOf('from').length > 0}
              choose={(address) => props.change(withSourceAddress(props.rule, index, address))}
            />
            <Show when={ends().length > 1}>
              <Remove what={`source ${index + 1}`} press={() => props.change(withoutSource(props.rule, index))} />
            </Show>
            <Live address={end().address} values={props.values} expand={props.expand} />
          </div>
        )}
      </Index>
      <p class="fields">
        <button type="button" onClick={adds(() => props.change(withFurtherSource(props.rule, '')))}>
          + Source
        </button>
        <Show
          when={isNamed(props.rule)}
          fallback={
            <Show when={ends().length > 1 || props.rule.map !== undefined}>
              <button type="button" onClick={() => props.change(withNames(props.rule))}>
                {ends().length > 1 ? 'Name the sources to compare them' : 'Add a name'}
              </button>
            </Show>
          }
        >
          <button
            type="button"
            title="Expressions then refer to the changed source as `value`"
            onClick={() => props.change(withoutNames(props.rule))}
          >
            Without names
          </button>
        </Show>
        <small>changes{ends().length > 1 ? ': any of them starts the rule' : ''}</small>
      </p>
    </Part>
  );
}

export function OnlyIfPart(props: PartProps & { readonly scope: Scope }) {
  return (
    <Part title="only if" errors={props.errorsOf('when')}>
      <Show
        when={props.rule.when !== undefined}
        fallback={
          <p class="fields">
            <button
              type="button"
              onClick={adds(() =>
                props.change(withSettings(props.rule, { when: writeRow(freshRow(props, firstOperand(props.rule))) })),
              )}
            >
              + Condition
            </button>
            <small>no condition: the rule always runs</small>
          </p>
        }
      >
        <Conditions
          {...props}
          what="Condition"
          text={props.rule.when ?? ''}
          setText={(when) => props.change(withSettings(props.rule, { when: when === '' ? undefined : when }))}
        />
      </Show>
    </Part>
  );
}

type Writes = 'source' | 'fixed' | 'conditions' | 'expression';

export function WritePart(props: PartProps & { readonly scope: Scope }) {
  const [chosen, setChosen] = createSignal<Writes>();
  const text = () => props.rule.map;
  const fits = (kind: Writes) => {
    const map = text();
    if (kind === 'source') return map === undefined;
    if (map === undefined) return false;
    if (kind === 'fixed') return readLiteral(map) !== undefined;
    return kind === 'expression' || readRows(map) !== undefined;
  };
  const usual = (): Writes => {
    if (fits('source')) return 'source';
    if (fits('fixed')) return 'fixed';
    return fits('conditions') && !/^\w+$/.test(text()!) ? 'conditions' : 'expression';
  };
  const kind = () => (chosen() !== undefined && fits(chosen()!) ? chosen()! : usual());
  const choose = (next: Writes) => {
    setChosen(next);
    if (fits(next)) return props.change({ ...props.rule });
    const map = {
      source: undefined,
      fixed: 'true',
      conditions: writeRow(freshRow(props, firstOperand(props.rule))),
      expression: text() ?? firstOperand(props.rule),
    };
    props.change(withSettings(props.rule, { map: map[next] }));
  };
  const setMap = (map: string) => props.change(withSettings(props.rule, { map: map === '' ? undefined : map }));
  return (
    <Part title="write" errors={props.errorsOf('map')}>
      <p class="fields">
        <Choice label="What it writes" value={kind()} choose={(next) => choose(next as Writes)}>
          <option value="source" disabled={isNamed(props.rule) && !isSplit(props.rule)}>
            the value of the source
          </option>
          <option value="fixed">always the same</option>
          <option value="conditions">whether conditions hold (true or false)</option>
          <option value="expression">an expression</option>
        </Choice>
        <Show when={kind() === 'fixed'}>
          <LiteralField
            label="Value to write"
            value={readLiteral(text()!)!}
            set={(value) => setMap(writeLiteral(value))}
          />
        </Show>
      </p>
      <Show when={kind() === 'conditions'}>
        <Conditions {...props} what="Condition" text={text() ?? ''} setText={setMap} />
      </Show>
      <Show when={kind() === 'expression'}>
        <Expression {...props} label="Expression to write" text={text() ?? ''} setText={setMap} />
      </Show>
    </Part>
  );
}

function firstOperand(rule: Rule): string {
  return sourcesOf(rule)[0]?.name || 'value';
}

/** Returns the first row for a source, according to the source's type: a number is compared with its current value. */
function freshRow({ rule, values, expand }: Pick<PartProps, 'rule' | 'values' | 'expand'>, operand: string): Row {
  const address = sourcesOf(rule).find(({ name }) => (name || 'value') === operand)?.address ?? '';
  const cell = values.of(expand(address));
  const type = cell.kind()?.type;
  if (type === 'S') return { operand, comparison: '==', values: [cell.value() ?? ''] };
  if (type === 'I' || type === 'F') return { operand, comparison: '>', values: [cell.value() ?? 0] };
  return { operand, comparison: 'true', values: [] };
}

interface ConditionProps extends PartProps {
  readonly scope: Scope;
  readonly what: string;
  readonly text: string;
  setText(text: string): void;
}

/**
 * Shows conditions as rows or as an expression. A change in one form appears in the other form, as far as rows can represent the change.
 */
function Conditions(props: ConditionProps) {
  const [isTyped, setTyped] = createSignal(false);
  const rows = createMemo(() => readRows(props.text));
  const isRows = () => rows() !== undefined && !isTyped();
  return (
    <>
      <div class="segments" role="group" aria-label={`${props.what}: rows or expression`}>
        <button
          type="button"
          aria-pressed={isRows()}
          disabled={rows() === undefined}
          title={rows() === undefined ? 'This expression is too complex for rows' : undefined}
          onClick={() => setTyped(false)}
        >
          Rows
        </button>
        <button type="button" aria-pressed={!isRows()} onClick={() => setTyped(true)}>
          Expression
        </button>
      </div>
      <Show when={isRows()} fallback={<Expression {...props} label={`${props.what} as an expression`} />}>
        <RowList {...props} rows={rows()!} />
        <Evaluated expression={props.text} scope={props.scope} expand={props.expand} />
      </Show>
    </>
  );
}

function Expression(props: Omit<ConditionProps, 'what'> & { readonly label: string }) {
  const area = () => (
    <textarea
      class="mono"
      rows={Math.min(6, props.text.split('\n').length + Math.floor(props.text.length / 70))}
      spellcheck={false}
      aria-label={props.label}
      value={props.text}
      onInput={(event) => props.setText(event.currentTarget.value)}
    />
  );
  return (
    <>
      <Show when={!props.text.includes('\n')} fallback={area()}>
        <TextField label={props.label} text={props.text} expand={props.expand} change={props.setText} plain={area()} />
      </Show>
      <Evaluated expression={props.text} scope={props.scope} expand={props.expand} />
    </>
  );
}

function RowList(props: ConditionProps & { readonly rows: Rows }) {
  const write = (rows: Rows) => props.setText(writeRows(rows));
  const list = () => props.rows.rows;
  const replace = (index: number, row: Row) =>
    write({ ...props.rows, rows: list().map((one, at) => (at === index ? row : one)) });
  const fresh = (): Row => {
    const names = sourcesOf(props.rule).map(({ name }) => name || 'value');
    const free = names.find((name) => !list().some(({ operand }) => operand === name));
    return freshRow(props, free ?? names[0] ?? 'value');
  };
  return (
    <>
      <Show when={list().length > 1}>
        <p class="fields">
          <Choice
            label="How the rows combine"
            value={props.rows.join}
            choose={(join) => write({ ...props.rows, join: join as Rows['join'] })}
          >
            <option value="all">all of these (and)</option>
            <option value="any">any of these (or)</option>
          </Choice>
        </p>
      </Show>
      <Index each={list()}>
        {(row, index) => (
          <ConditionRow
            {...props}
            row={row()}
            number={index + 1}
            set={(next) => replace(index, next)}
            remove={() => write({ ...props.rows, rows: list().filter((_, at) => at !== index) })}
          />
        )}
      </Index>
      <p class="fields">
        <button type="button" onClick={adds(() => write({ ...props.rows, rows: [...list(), fresh()] }))}>
          + Row
        </button>
      </p>
    </>
  );
}

function ConditionRow(
  props: ConditionProps & { readonly row: Row; readonly number: number; set(row: Row): void; remove(): void },
) {
  const names = () => sourcesOf(props.rule).map(({ name }) => name || 'value');
  const isOther = () => !names().includes(props.row.operand);
  const address = () => {
    if (props.row.operand.includes('/')) return props.row.operand;
    return sourcesOf(props.rule).find(({ name }) => (name || 'value') === props.row.operand)?.address ?? '';
  };
  const cell = createMemo(() => props.values.of(props.expand(address())));
  const choose = (comparison: Comparison) => {
    const count = comparison === 'true' || comparison === 'false' ? 0 : comparison === 'between' ? 2 : 1;
    const present = cell().value();
    const first: Literal =
      comparison === '==' || comparison === '!=' ? (present ?? 0) : typeof present === 'number' ? present : 0;
    const values = Array.from({ length: count }, (_, at) => props.row.values[at] ?? first);
    props.set({ ...props.row, comparison, values });
  };
  const result = () => {
    const present = cell().value();
    return present === undefined ? undefined : holds(props.row, present);
  };
  const offered = () => {
    const type = cell().kind()?.type;
    if (type === 'B' || type === 'T')
      return comparisons.filter((one) => one === 'true' || one === 'false' || one === props.row.comparison);
    if (type === 'S') return comparisons.filter((one) => one === '==' || one === '!=' || one === props.row.comparison);
    return comparisons;
  };
  return (
    <div class="fields">
      <Choice
        label={`Row ${props.number}: compared value`}
        value={isOther() ? '/' : props.row.operand}
        choose={(operand) => props.set({ ...props.row, operand: operand === '/' ? 'desk/lamp' : operand })}
      >
        <For each={names()}>{(name) => <option value={name}>{name === 'value' ? 'the value' : name}</option>}</For>
        <option value="/">another parameter …</option>
      </Choice>
      <Show when={isOther()}>
        <Address
          expand={props.expand}
          label={`Row ${props.number}: parameter`}
          address={props.row.operand}
          choose={(operand) => props.set({ ...props.row, operand })}
        />
      </Show>
      <Choice
        label={`Row ${props.number}: comparison`}
        value={props.row.comparison}
        choose={(next) => choose(next as Comparison)}
      >
        <For each={offered()}>{(one) => <option value={one}>{comparisonNames[one]}</option>}</For>
      </Choice>
      <Index each={props.row.values}>
        {(value, at) => (
          <>
            <Show when={at === 1}>and</Show>
            <LiteralField
              label={`Row ${props.number}: value${at === 1 ? ' 2' : ''}`}
              value={value()}
              set={(next) =>
                props.set({ ...props.row, values: props.row.values.map((one, index) => (index === at ? next : one)) })
              }
            />
          </>
        )}
      </Index>
      <Remove what={`row ${props.number}`} press={props.remove} />
      <output class="now">
        <Show when={cell().kind()?.type !== 'T'} fallback={<small>true when the trigger fires</small>}>
          now <strong class="mono">{formatValue(cell().value()) || 'unknown'}</strong>
          <Show when={result() !== undefined}>
            {': '}
            <span class={result() ? 'holds' : 'fails'}>{result() ? 'holds' : 'does not hold'}</span>
          </Show>
        </Show>
      </output>
    </div>
  );
}

function holds({ comparison, values: [first, second] }: Row, present: Literal): boolean {
  switch (comparison) {
    case 'true':
      return present === true;
    case 'false':
      return present === false;
    case '==':
      return present === first;
    case '!=':
      return present !== first;
    case '>':
      return present > first!;
    case '>=':
      return present >= first!;
    case '<':
      return present < first!;
    case '<=':
      return present <= first!;
    case 'between':
      return present >= first! && present <= second!;
  }
}

/**
 * A field for a number, a string, true or false. A string that looks like a number, true or false is converted, unless the value was a
 * string before.
 */
function LiteralField(props: { readonly label: string; readonly value: Literal; set(value: Literal): void }) {
  const read = (text: string): Literal => {
    if (typeof props.value === 'string' && !/^-?[\d.,]+$|^true$|^false$/.test(text)) return text;
    const plain = text.trim().replace(/^(-?\d+),(\d+)$/, '$1.$2');
    return readLiteral(plain) ?? text;
  };
  return (
    <input
      type="text"
      class="short mono"
      aria-label={props.label}
      value={String(props.value)}
      onChange={(event) => props.set(read(event.currentTarget.value))}
    />
  );
}

export function AfterPart(props: PartProps) {
  const steps = () => props.rule.pipe ?? [];
  const write = (pipe: readonly Step[]) =>
    props.change(withSettings(props.rule, { pipe: pipe.length === 0 ? undefined : pipe }));
  const replace = (index: number, step: Step) => write(steps().map((one, at) => (at === index ? step : one)));
  const first = (name: string) => (name in timeSteps ? '2s' : name === 'distinctUntilChanged' ? true : 'value');
  return (
    <Part title="after" errors={props.errorsOf('pipe')}>
      <Index each={steps()}>
        {(step, index) => {
          const name = () => Object.keys(step())[0] ?? '';
          const setting = () => step()[name()];
          const isTime = () => name() in timeSteps;
          const isSimple = () =>
            Object.keys(step()).length === 1 && (isTime() || name() in otherSteps) && typeof setting() !== 'object';
          const choose = (next: string) => {
            if (next === '') return replace(index, { clamp: [0, 1] });
            const isAlike = isSimple() && next in timeSteps === isTime() && setting() !== true;
            replace(index, { [next]: isAlike && first(next) !== true ? setting() : first(next) });
          };
          return (
            <div class="fields">
              <Choice label={`Step ${index + 1}`} value={isSimple() ? name() : ''} choose={choose}>
                <For each={Object.entries({ ...timeSteps, ...otherSteps })}>
                  {([value, words]) => <option value={value}>{words}</option>}
                </For>
                <option value="">another step, as JSON5</option>
              </Choice>
              <Show
                when={isSimple()}
                fallback={<StepText number={index + 1} step={step()} set={(next) => replace(index, next)} />}
              >
                <Show when={setting() !== true}>
                  <input
                    type="text"
                    classList={{ short: isTime(), wide: !isTime() }}
                    class="mono"
                    spellcheck={false}
                    aria-label={`Step ${index + 1}: ${isTime() ? 'time, such as 2s or 1m30s' : 'expression'}`}
                    title={isTime() ? 'such as 500ms, 2s, 1m30s' : undefined}
                    value={String(setting())}
                    onChange={(event) => {
                      const text = event.currentTarget.value.trim();
                      const isPlainNumber = /^\d+(?:\.\d+)?$/.test(text) && isTime();
                      replace(index, { [name()]: isPlainNumber ? `${text}s` : text });
                    }}
                  />
                </Show>
              </Show>
              <Remove what={`step ${index + 1}`} press={() => write(steps().filter((_, at) => at !== index))} />
            </div>
          );
        }}
      </Index>
      <p class="fields">
        <button
          type="button"
          onClick={adds(() => write([...steps(), { [steps().length === 0 ? 'offDelay' : 'delay']: '2s' }]))}
        >
          + Delay, hold, debounce …
        </button>
        <Show when={steps().length === 0}>
          <small>immediately</small>
        </Show>
      </p>
    </Part>
  );
}

/** A field for a step that has no form, such as `{ clamp: [0, 1] }`. */
function StepText(props: { readonly number: number; readonly step: Step; set(step: Step): void }) {
  const [typed, setTyped] = createSignal<string>();
  return (
    <>
      <input
        type="text"
        class="mono wide"
        spellcheck={false}
        aria-label={`Step ${props.number} as JSON5`}
        aria-invalid={typed() !== undefined}
        value={typed() ?? writeJson5(props.step)}
        onChange={(event) => {
          const text = event.currentTarget.value;
          const step = readJson5(text);
          const isStep = typeof step === 'object' && step !== null && !Array.isArray(step);
          setTyped(isStep ? undefined : text);
          if (isStep) props.set(step as Step);
        }}
      />
      <Show when={typed() !== undefined}>
        <span class="error" role="alert">
          Type a step as JSON5, such as {'{ clamp: [0, 1] }'}.
        </span>
      </Show>
    </>
  );
}

export function ToPart(props: PartProps & { readonly scope: Scope }) {
  const ends = () => targetsOf(props.rule);
  const [showsExpressions, setShowing] = createSignal(false);
  return (
    <Part title="to" errors={props.errorsOf('to')}>
      <Index each={ends()}>
        {(end, index) => {
          const replace = (next: Partial<ReturnType<typeof end>>) =>
            props.change(
              withTargets(
                props.rule,
                ends().map((one, at) => (at === index ? { ...one, ...next } : one)),
              ),
            );
          return (
            <div class="fields">
              <Address
                expand={props.expand}
                label={`Destination ${index + 1}`}
                address={end().address}
                isWrong={props.errorsOf('to').length > 0}
                choose={(address) => replace({ address })}
              />
              <Show when={isSplit(props.rule) || showsExpressions()}>
                <span aria-hidden="true">=</span>
                <TextField
                  label={`Expression for destination ${index + 1}`}
                  text={end().expression}
                  expand={props.expand}
                  change={(expression) => replace({ expression })}
                  plain={
                    <input
                      type="text"
                      class="mono wide"
                      aria-label={`Expression for destination ${index + 1}`}
                      placeholder="value"
                      spellcheck={false}
                      value={end().expression}
                      onChange={(event) => replace({ expression: event.currentTarget.value })}
                    />
                  }
                />
              </Show>
              <Show when={ends().length > 1}>
                <Remove
                  what={`destination ${index + 1}`}
                  press={() =>
                    props.change(
                      withTargets(
                        props.rule,
                        ends().filter((_, at) => at !== index),
                      ),
                    )
                  }
                />
              </Show>
              <Live address={end().address} values={props.values} expand={props.expand} />
            </div>
          );
        }}
      </Index>
      <p class="fields">
        <button
          type="button"
          disabled={isSplit(props.rule) && ends().some(({ address }) => address === '')}
          onClick={adds(() => props.change(withTargets(props.rule, [...ends(), { address: '', expression: '' }])))}
        >
          + Destination
        </button>
        <Show when={!isSplit(props.rule) && ends().length > 1}>
          <button type="button" aria-pressed={showsExpressions()} onClick={() => setShowing(!showsExpressions())}>
            A value for each
          </button>
        </Show>
      </p>
    </Part>
  );
}
