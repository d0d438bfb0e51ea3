// A dashboard for a wall panel. It fills the screen, keeps it on, and is clearly marked as stale while the link is down.
import {
  createEffect,
  createMemo,
  createSignal,
  For,
  type JSX,
  lazy,
  onCleanup,
  onMount,
  Show,
  Suspense,
} from 'solid-js';
import type { Dashboard, Group, Widget } from '../../dashboard/format.ts';
import { createLiveValues, type LiveValues } from '../hub/live-values.ts';
import { me } from '../hub/me.ts';
import { isStale } from '../hub/page-hub.ts';
import { linkTo, route, setParams } from '../page/route.ts';
import { formatClock } from '../page/units.ts';
import { Guarded } from '../parts/guarded.tsx';
import { StaleMark } from '../parts/state-mark.tsx';
import { ButtonWidget } from './controls/button.tsx';
import { FaderWidget } from './controls/fader.tsx';
import { Label, Lamp, Meter, Reading } from './readings/readings.tsx';
import { type DrawnWidget, drawnAs, showValue } from './showing.ts';

/** Updates per second that the eye can follow. The hub merges faster changes. */
const rate = 30;

export function Panel(props: { readonly name: string; readonly dashboard: Dashboard; readonly mistake: string }) {
  let panel!: HTMLDivElement;
  const title = () => props.dashboard.title || props.name;
  const widgets = createMemo<readonly Widget[]>((former) => keepEqual(former, props.dashboard.widgets), []);
  const values = createLiveValues(
    () => widgets().flatMap(addressesOf),
    () => rate,
  );
  const [isFull, setFull] = createSignal(false);
  const [staleSince, setStaleSince] = createSignal(Date.now());
  keepAwake();

  createEffect(() => {
    if (isStale()) setStaleSince(Date.now());
  });
  onMount(() => {
    document.title = title();
    const others = [...document.querySelectorAll<HTMLElement>('.shell > :not(main)')];
    for (const other of others) other.inert = true;
    const follow = () => setFull(document.fullscreenElement !== null);
    document.addEventListener('fullscreenchange', follow);
    onCleanup(() => {
      for (const other of others) other.inert = false;
      document.removeEventListener('fullscreenchange', follow);
    });
  });
  const isBare = () => isFull() || route().params.bare === '1' || me()?.kiosk !== undefined;

  return (
    <div class="panel-page" classList={{ stale: isStale(), bare: isBare() }} ref={panel}>
      <Show when={!isBare()}>
        <div class="bar">
          <a href={linkTo('dashboards')}>‹ Dashboards</a>
          <h1 class="grow truncate" title={title()}>
            {title()}
          </h1>
          <button
            type="button"
            onClick={() => setParams({ bare: '1' })}
            title="Hide this bar; the URL of the page keeps it hidden"
          >
            Hide bar
          </button>
          <button type="button" onClick={() => document.documentElement.requestFullscreen().catch(() => {})}>
            Full screen
          </button>
        </div>
      </Show>
      <div role="status">
        <Show when={isStale()}>
          <p class="banner">
            <strong>Disconnected from the hub</strong> since {formatClock(staleSince())}. Values are outdated.
          </p>
        </Show>
        <Show when={!isStale() && props.mistake}>
          <pre class="banner mistake">{props.mistake}</pre>
        </Show>
      </div>
      <Grid columns={props.dashboard.columns} rows={props.dashboard.rows} widgets={widgets()} values={values} />
    </div>
  );
}

/** Returns the widgets. An unchanged one stays the same object, so the page does not rebuild it. */
function keepEqual(former: readonly Widget[], widgets: readonly Widget[]): readonly Widget[] {
  const kept = new Map(former.map((widget) => [JSON.stringify(widget), widget]));
  return widgets.map((widget) => {
    const key = JSON.stringify(widget);
    const same = kept.get(key);
    kept.delete(key);
    return same ?? (JSON.parse(key) as Widget);
  });
}

// Keeps the screen on if the browser can (Screen Wake Lock, W3C): with HTTPS, or from the same machine. It asks again when the page was
// hidden and is visible again.

/** Works for the lifetime of the calling scope. It does nothing if the browser does not support or allow it. */
function keepAwake(): void {
  if (!('wakeLock' in navigator)) return;
  let lock: WakeLockSentinel | undefined;
  let isOver = false;
  const ask = async () => {
    if (document.hidden || isOver) return;
    lock = await navigator.wakeLock.request('screen').catch(() => undefined);
    if (isOver) void lock?.release();
  };
  document.addEventListener('visibilitychange', ask);
  void ask();
  onCleanup(() => {
    isOver = true;
    document.removeEventListener('visibilitychange', ask);
    void lock?.release();
  });
}

// The widgets on the grid.

/** Returns the addresses of all parameters that a widget shows or sets. */
function addressesOf(widget: Widget): string[] {
  if (widget.type === 'group') return widget.widgets.flatMap(addressesOf);
  if (widget.type === 'plot') return widget.addresses;
  if (widget.type === 'button') return [widget.address, ...(widget.lamp === undefined ? [] : [widget.lamp])];
  return widget.type === 'label' ? [] : [widget.address];
}

const Plot = lazy(() => import('./readings/plot.tsx'));

export function WidgetPlace(props: { readonly widget: Widget; readonly values: LiveValues }) {
  const { at, size, type } = props.widget;
  const parameters = type === 'group' ? [] : addressesOf(props.widget).map((address) => props.values.of(address));
  const staleSince = () => parameters.find((parameter) => parameter.staleSince() !== undefined)?.staleSince();
  const wanted = () => parameters.find((parameter) => parameter.wanted() !== undefined)?.wanted();
  const drawn = createMemo(
    () => (props.widget.type === 'group' ? props.widget : drawnAs(props.widget, parameters[0]?.about())),
    undefined,
    { equals: (former, next) => JSON.stringify(former) === JSON.stringify(next) },
  );
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
        <Suspense>
          <Show when={drawn()} keyed>
            {(widget) => contentOf(widget, props.values)}
          </Show>
        </Suspense>
        <Show when={wanted() !== undefined}>
          <small class="wanted" title="The device has not confirmed it yet">
            → {showValue(wanted())}
          </small>
        </Show>
        <StaleMark since={staleSince} />
      </Guarded>
    </div>
  );
}

function contentOf(widget: DrawnWidget | Group, values: LiveValues): JSX.Element {
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

/** Draws widgets on a grid that fills the available space. */
function Grid(props: {
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
