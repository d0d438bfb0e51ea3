// Widgets for choosing one of several values: a list, and buttons.

import { For, Show } from 'solid-js';
import type { Value } from '../../../client/index.ts';
import { t } from '../../language/language.ts';
import { FitText } from '../readings/fit-text.tsx';
import { showValue } from '../showing.ts';
import { useControl, WidgetFault, WidgetName, type WidgetProps } from '../widget.tsx';
import { createGuard, HoldButton } from './guard.tsx';

export function Select(props: WidgetProps<'select'>) {
  const { address, label, choices } = props.widget;
  const control = useControl(props, address);
  const guard = createGuard(props.widget, { title: label ?? address, holdsInDialog: true });
  const named = Object.entries(choices);
  const chosen = () => named.findIndex(([, value]) => isSame(value, control.shown()));
  let select!: HTMLSelectElement;
  const choose = (index: number) => {
    const value = named[index]?.[1];
    select.value = String(chosen()); // until the hub has accepted the value
    if (value !== undefined) guard.run(() => control.write(value));
  };
  return (
    <>
      <WidgetName label={label} address={address} />
      <select
        ref={select}
        class="input"
        aria-label={label ?? address}
        disabled={!control.isFree()}
        title={control.readOnly() || undefined}
        onChange={(event) => choose(Number(event.currentTarget.value))}
      >
        <Show when={chosen() < 0}>
          <option value="-1" selected>
            {showValue(control.shown())}
          </option>
        </Show>
        <For each={named}>
          {([name], index) => (
            <option value={index()} selected={chosen() === index()}>
              {name}
            </option>
          )}
        </For>
      </select>
      <NoChoices isEmpty={named.length === 0} />
      {guard.Dialog()}
      <WidgetFault address={address} parameter={control.parameter} values={props.values} failure={control.failure()} />
    </>
  );
}

export function Radio(props: WidgetProps<'radio'>) {
  const { address, label, choices } = props.widget;
  const control = useControl(props, address);
  const guard = createGuard(props.widget, { title: label ?? address });
  return (
    <>
      <WidgetName label={label} address={address} />
      <div class="option-row" role="group" aria-label={label ?? address}>
        <For each={Object.entries(choices)}>
          {([name, value]) => (
            <HoldButton
              class="light push"
              classList={{ lit: isSame(value, control.shown()) }}
              seconds={props.widget.hold}
              act={() => guard.run(() => control.write(value))}
              tone={props.tone?.() ?? props.widget.tone}
              pressed={isSame(value, control.shown())}
              disabled={!control.isFree()}
              title={control.readOnly() || name}
            >
              <FitText text={name} />
            </HoldButton>
          )}
        </For>
      </div>
      <NoChoices isEmpty={Object.keys(choices).length === 0} />
      {guard.Dialog()}
      <WidgetFault address={address} parameter={control.parameter} values={props.values} failure={control.failure()} />
    </>
  );
}

function NoChoices(props: { readonly isEmpty: boolean }) {
  return (
    <Show when={props.isEmpty}>
      <p class="word">{t('Neither the widget nor its parameter has choices.')}</p>
    </Show>
  );
}

/** Returns whether two values are the same. Numbers and booleans in settings and from the hub may be written as strings. */
function isSame(one: Value, other: Value | undefined): boolean {
  return other !== undefined && String(one) === String(other);
}
