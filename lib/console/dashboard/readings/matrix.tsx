// A matrix: many small lamps with labels, row by row.

import { For } from 'solid-js';
import { lastPartOf } from '../../../model/address.ts';
import { t } from '../../language/language.ts';
import { createLit, WidgetFault, WidgetName, type WidgetProps } from '../widget.tsx';

export function Matrix(props: WidgetProps<'matrix'>) {
  const { lamps, label, columns, tone, equals } = props.widget;
  return (
    <>
      <WidgetName label={label} />
      <ul
        class="lamps"
        aria-label={label ?? t('Lamps')}
        style={{ 'grid-template-columns': columns === undefined ? undefined : `repeat(${columns}, minmax(0, 1fr))` }}
      >
        <For each={lamps}>
          {(lamp) => {
            const parameter = props.values.of(lamp.address);
            const lit = createLit(parameter, equals);
            const name = () => lamp.label ?? parameter.about()?.label ?? lastPartOf(lamp.address);
            const state = () => t(parameter.value() === undefined ? 'unknown' : lit() ? 'on' : 'off');
            return (
              <li
                classList={{ lit: lit(), unknown: parameter.value() === undefined }}
                data-tone={props.tone?.() ?? lamp.tone ?? tone}
                title={`${name()}: ${state()}`}
              >
                <span class="led" role="img" aria-label={state()} />
                <span class="truncate" title={name()}>
                  {name()}
                </span>
              </li>
            );
          }}
        </For>
      </ul>
      <For each={lamps}>
        {({ address }) => <WidgetFault address={address} parameter={props.values.of(address)} values={props.values} />}
      </For>
    </>
  );
}
