// Widgets on a grid, each in its place.

import { For, type JSX, lazy, Suspense } from 'solid-js';
import type { Widget } from '../../dashboard/format.ts';
import type { LiveValues } from '../hub/live-values.ts';
import { Guarded } from '../parts/guarded.tsx';
import { StaleMark } from '../parts/state-mark.tsx';
import { ButtonWidget } from './controls/button.tsx';
import { FaderWidget } from './controls/fader.tsx';
import { Label, Lamp, Meter, Reading } from './readings/readings.tsx';

/** The addresses of all parameters that a widget shows or sets. */
export function addressesOf(widget: Widget): string[] {
  if (widget.type === 'group') return widget.widgets.flatMap(addressesOf);
  if (widget.type === 'plot') return widget.addresses;
  if (widget.type === 'button') return [widget.address, ...(widget.lamp === undefined ? [] : [widget.lamp])];
  return widget.type === 'label' ? [] : [widget.address];
}

const Plot = lazy(() => import('./readings/plot.tsx'));

function WidgetPlace(props: { readonly widget: Widget; readonly values: LiveValues }) {
  const { at, size, type } = props.widget;
  const parameters = type === 'group' ? [] : addressesOf(props.widget).map((address) => props.values.of(address));
  const staleSince = () => parameters.find((parameter) => parameter.staleSince() !== undefined)?.staleSince();
  return (
    <div
      class={`widget ${type}`}
      classList={{
        old: staleSince() !== undefined,
        broad: type === 'group' || (size[0] > 2 && size[0] > size[1] * 1.5),
      }}
      style={{
        '--column': at[0],
        '--row': at[1],
        '--wide': size[0],
        '--high': size[1],
      }}
    >
      <Guarded changed={() => parameters.map((one) => [one.value(), one.moves(), one.kind()])}>
        <Suspense>{contentOf(props.widget, props.values)}</Suspense>
        <StaleMark since={staleSince} />
      </Guarded>
    </div>
  );
}

function contentOf(widget: Widget, values: LiveValues): JSX.Element {
  switch (widget.type) {
    case 'label':
      return <Label widget={widget} values={values} />;
    case 'value':
      return <Reading widget={widget} values={values} />;
    case 'lamp':
      return <Lamp widget={widget} values={values} />;
    case 'meter':
      return <Meter widget={widget} values={values} />;
    case 'button':
      return <ButtonWidget widget={widget} values={values} />;
    case 'fader':
      return <FaderWidget widget={widget} values={values} />;
    case 'plot':
      return <Plot widget={widget} values={values} />;
    case 'group':
      return (
        <>
          <h2 class="truncate" title={widget.label}>
            {widget.label}
          </h2>
          <Grid columns={widget.columns} rows={widget.rows} widgets={widget.widgets} values={values} />
        </>
      );
  }
}

/** Draws widgets on a grid that fills the room there is. */
export function Grid(props: {
  readonly columns: number;
  readonly rows: number;
  readonly widgets: readonly Widget[];
  readonly values: LiveValues;
}) {
  return (
    <div class="widgets" style={{ '--columns': props.columns, '--rows': props.rows }}>
      <For each={props.widgets}>{(widget) => <WidgetPlace widget={widget} values={props.values} />}</For>
    </div>
  );
}
