// One widget on its place, by its type; and what all of them have in common: a label, and what is wrong.

import { createSignal, For, type JSX, lazy, onCleanup, Show } from 'solid-js';
import type { SingleWidget, Widget, WidgetOf } from '../../dashboard/format.ts';
import { hub } from '../hub.ts';
import type { LiveParameter, LiveValues } from '../live-values.ts';
import { messageOf } from '../request.ts';
import { ButtonWidget } from './button.tsx';
import { FaderWidget } from './fader.tsx';
import { Label, Lamp, Meter, Reading } from './readings.tsx';

const Plot = lazy(() => import('./plot.tsx'));
/** How long it is shown that a write has failed. */
const failureMs = 5000;

export interface WidgetProps<Type extends SingleWidget['type']> {
  readonly widget: WidgetOf<Type>;
  readonly values: LiveValues;
}

export function WidgetPlace(props: { readonly widget: Widget; readonly values: LiveValues }) {
  const { at, size, type } = props.widget;
  return (
    <div
      class={`widget ${type}`}
      classList={{ broad: type === 'group' || (size[0] > 2 && size[0] > size[1] * 1.5) }}
      style={{
        '--column': at[0],
        '--row': at[1],
        '--wide': size[0],
        '--high': size[1],
      }}
    >
      {contentOf(props.widget, props.values)}
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
          <h2 class="truncate">{widget.label}</h2>
          <Grid columns={widget.columns} rows={widget.rows} widgets={widget.widgets} values={values} />
        </>
      );
  }
}

/** Widgets on a grid that fills what there is. */
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

/** Says that there is no such parameter, or why the last write has failed. */
export function Trouble(props: {
  readonly parameter: LiveParameter;
  readonly values: LiveValues;
  readonly failure?: string;
}) {
  const text = () => props.failure || (props.values.isComplete() && !props.parameter.kind() ? 'no such parameter' : '');
  return (
    <Show when={text()}>
      <p class="trouble" role="alert">
        {text()}
      </p>
    </Show>
  );
}

/** Writes of a control, and why the last one has failed, for a while. */
export function useWrites(address: string) {
  const [failure, setFailure] = createSignal('');
  let timer: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(timer));
  return {
    failure,
    fail(error: unknown) {
      clearTimeout(timer);
      setFailure(messageOf(error));
      timer = setTimeout(() => setFailure(''), failureMs);
    },
    send: (value: string | number | boolean) => hub.set(address, value),
  };
}
