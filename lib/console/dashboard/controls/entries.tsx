// Widgets with a field: a number, which is set exactly or not at all, and a string. The field does not follow the value while the user
// edits the field.

import { createSignal, createUniqueId, Show } from 'solid-js';
import type { Value } from '../../../client/index.ts';
import { localNumber, t } from '../../language/language.ts';
import { createDraft } from '../../parameters/edit/draft.ts';
import { readTypedNumber } from '../../parameters/edit/typed-number.ts';
import { showValue } from '../showing.ts';
import { useControl, WidgetFault, WidgetName, type WidgetProps } from '../widget.tsx';
import { createGuard, HoldButton } from './guard.tsx';

const digits = 12;

export function NumberEntry(props: WidgetProps<'number'>) {
  const { address, label, min, max, step = 1, unit } = props.widget;
  const control = useControl(props, address);
  const guard = createGuard(props.widget, { title: label ?? address });
  const textOf = (value: Value | undefined) =>
    value === undefined ? undefined : showValue(value, props.widget.digits);
  const draft = createDraft(
    () => textOf(control.shown()),
    () => textOf(control.newest()),
  );
  const [mistake, setMistake] = createSignal('');
  const isInteger = () => control.parameter.kind()?.type === 'I';
  const write = (value: number) => {
    const wrong = whyOutside(value, min, max, unit);
    setMistake(wrong);
    if (wrong) return;
    guard.run(() => {
      draft.settle(showValue(value, props.widget.digits));
      control.write(value);
    });
  };
  const set = () => {
    if (!draft.isTyped()) return;
    const typed = readTypedNumber(draft.text(), isInteger());
    if ('value' in typed) write(typed.value);
    else setMistake(typed.mistake);
  };
  const nudge = (by: number) => {
    const from = draft.isTyped()
      ? readTypedNumber(draft.text(), isInteger())
      : { value: Number(control.newest() ?? 0) };
    if ('mistake' in from) return setMistake(from.mistake);
    const next = Number((from.value + by).toPrecision(digits));
    return write(Math.min(max ?? next, Math.max(min ?? next, next)));
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      event.preventDefault();
      nudge(event.key === 'ArrowUp' ? step : -step);
    } else if (event.key === 'Escape' && draft.isTyped()) {
      draft.discard();
      setMistake('');
    }
  };
  return (
    <Entry
      {...{ ...props, control, address, label }}
      mistake={mistake()}
      hold={props.widget.hold}
      isTyped={draft.isTyped()}
      set={set}
      unit={unit}
      nudge={{ down: () => nudge(-step), up: () => nudge(step), step }}
      dialog={guard.Dialog}
    >
      {(field) => (
        <input
          {...field}
          class="input number"
          type="text"
          inputMode="decimal"
          value={draft.text()}
          disabled={!control.isFree()}
          onFocus={draft.enter}
          onBlur={draft.leave}
          onInput={(event) => draft.type(event.currentTarget.value)}
          onKeyDown={press}
        />
      )}
    </Entry>
  );
}

export function TextEntry(props: WidgetProps<'text'>) {
  const { address, label, lines, maxLength } = props.widget;
  const control = useControl(props, address);
  const guard = createGuard(props.widget, { title: label ?? address });
  const textOf = (value: Value | undefined) => (value === undefined ? undefined : String(value));
  const draft = createDraft(
    () => textOf(control.shown()),
    () => textOf(control.newest()),
  );
  const set = () => {
    if (!draft.isTyped()) return;
    const text = draft.text().toWellFormed();
    guard.run(() => {
      draft.settle(text);
      control.write(text);
    });
  };
  const shared = {
    class: 'input',
    maxLength,
    onFocus: draft.enter,
    onBlur: draft.leave,
    onKeyDown(event: KeyboardEvent) {
      if (event.key === 'Escape' && draft.isTyped()) draft.discard();
      if (event.key === 'Enter' && event.ctrlKey) set();
    },
  };
  return (
    <Entry
      {...{ ...props, control, address, label }}
      mistake=""
      hold={props.widget.hold}
      isTyped={draft.isTyped()}
      set={set}
      dialog={guard.Dialog}
    >
      {(field) => (
        <Show
          when={lines > 1}
          fallback={
            <input
              {...field}
              {...shared}
              type="text"
              dir="auto"
              value={draft.text()}
              disabled={!control.isFree()}
              onInput={(event) => draft.type(event.currentTarget.value)}
            />
          }
        >
          <textarea
            {...field}
            {...shared}
            dir="auto"
            rows={lines}
            value={draft.text()}
            disabled={!control.isFree()}
            onInput={(event) => draft.type(event.currentTarget.value)}
          />
        </Show>
      )}
    </Entry>
  );
}

interface FieldProps {
  readonly id: string;
  readonly 'aria-label': string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string;
}

/** The form around a field: its label, its unit, its steps, the button that sets the value, and the current error. */
function Entry(
  props: Pick<WidgetProps<'text'>, 'values'> & {
    readonly control: ReturnType<typeof useControl>;
    readonly address: string;
    readonly label: string | undefined;
    readonly mistake: string;
    readonly isTyped: boolean;
    readonly hold: number | undefined;
    readonly unit?: string;
    readonly nudge?: { readonly down: () => void; readonly up: () => void; readonly step: number };
    readonly set: () => void;
    readonly dialog: ReturnType<typeof createGuard>['Dialog'];
    readonly children: (field: FieldProps) => import('solid-js').JSX.Element;
  },
) {
  const id = createUniqueId();
  const name = () => props.label ?? props.address;
  const NudgeButton = (button: { readonly way: 'down' | 'up' }) => (
    <Show when={props.nudge && props.hold === undefined && props.nudge}>
      {(nudge) => (
        <button
          type="button"
          class="nudge"
          disabled={!props.control.isFree()}
          aria-label={`${name()}: ${t(button.way === 'down' ? 'decrease by {1}' : 'increase by {1}', localNumber(String(nudge().step)))}`}
          onClick={nudge()[button.way]}
        >
          {button.way === 'down' ? '−' : '+'}
        </button>
      )}
    </Show>
  );
  return (
    <>
      <WidgetName label={props.label} address={props.address} />
      <form
        class="input-row"
        title={props.control.readOnly() || undefined}
        onSubmit={(event) => {
          event.preventDefault();
          if (props.hold === undefined) props.set();
        }}
      >
        <NudgeButton way="down" />
        {props.children({
          id,
          'aria-label': props.unit ? t('{1} in {2}', name(), props.unit) : name(),
          get 'aria-invalid'() {
            return props.mistake !== '';
          },
          'aria-describedby': `${id}-mistake`,
        })}
        <Show when={props.unit}>
          <span class="unit">{props.unit}</span>
        </Show>
        <NudgeButton way="up" />
        <HoldButton
          class="set"
          type="submit"
          seconds={props.hold}
          disabled={!props.control.isFree() || !props.isTyped}
          act={props.set}
        >
          {t('Set')}
        </HoldButton>
      </form>
      <p class="input-mistake" id={`${id}-mistake`} role="alert" title={props.mistake}>
        {props.mistake}
      </p>
      {props.dialog()}
      <WidgetFault
        address={props.address}
        parameter={props.control.parameter}
        values={props.values}
        failure={props.control.failure()}
      />
    </>
  );
}

/** Returns the reason why a number cannot be set, or an empty string if the number can be set. */
function whyOutside(value: number, min: number | undefined, max: number | undefined, unit: string): string {
  const shown = (number: number) => localNumber(`${number} ${unit}`.trim());
  if (min !== undefined && value < min) return t('Expected at least {1}, got {2}.', shown(min), shown(value));
  if (max !== undefined && value > max) return t('Expected at most {1}, got {2}.', shown(max), shown(value));
  return '';
}
