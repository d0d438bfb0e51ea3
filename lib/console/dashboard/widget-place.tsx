// The widgets on the grid: each widget in its place, with its expressions, marks and errors, which do not affect other widgets.

import { createMemo, createSignal, For, type JSX, lazy, onMount, Show, Suspense } from 'solid-js';
import type { Value } from '../../client/index.ts';
import type { Group, Place, Tabs, Widget } from '../../dashboard/format.ts';
import { type Answer, addressesOfFormula, evaluate, type Formula } from '../../dashboard/formula.ts';
import { type Tone, tones } from '../../dashboard/tone.ts';
import { messageOf } from '../../model/error.ts';
import type { LiveValues } from '../hub/live-values.ts';
import { t } from '../language/language.ts';
import { observeSize } from '../page/media.ts';
import { Guarded } from '../parts/guarded.tsx';
import { StaleMark } from '../parts/state-mark.tsx';
import { useWhy } from './ask-why.ts';
import { ButtonWidget } from './controls/button.tsx';
import { FaderWidget } from './controls/fader.tsx';
import { Label, Lamp, Meter, Reading } from './readings/readings.tsx';
import { type DrawnWidget, drawnAs, showValue } from './showing.ts';
import { isLyingShape, type WidgetProps } from './widget.tsx';

/** Returns the addresses of all parameters that a widget shows, sets, or uses in its expressions. */
export function addressesOf(widget: Widget): string[] {
  return [...ownAddressesOf(widget), ...addressesOfFormula(widget.visible), ...addressesOfFormula(widget.toneBy)];
}

/** Returns the addresses that a widget itself shows or sets, without those in its expressions. */
function ownAddressesOf(widget: Widget): string[] {
  switch (widget.type) {
    case 'group':
      return widget.widgets.flatMap(addressesOf);
    case 'tabs':
      return widget.tabs.flatMap(({ widgets }) => widgets.flatMap(addressesOf));
    case 'plot':
    case 'events':
      return widget.addresses;
    case 'matrix':
      return widget.lamps.map(({ address }) => address);
    case 'button':
      return [widget.address, ...(widget.lamp === undefined ? [] : [widget.lamp])];
    case 'alarm':
      return [widget.address, `${widget.address}/state`, `${widget.address}/ack`];
    case 'label':
    case 'link':
    case 'clock':
    case 'image':
      return [];
    default:
      return widget.address === undefined ? [] : [widget.address];
  }
}

const Plot = lazy(() => import('./readings/plot.tsx'));
const controls = () => import('./controls/more-controls.ts');
const readings = () => import('./readings/more-readings.ts');
const Select = lazy(async () => ({ default: (await controls()).Select }));
const Radio = lazy(async () => ({ default: (await controls()).Radio }));
const NumberEntry = lazy(async () => ({ default: (await controls()).NumberEntry }));
const TextEntry = lazy(async () => ({ default: (await controls()).TextEntry }));
const Alarm = lazy(async () => ({ default: (await controls()).Alarm }));
const Gauge = lazy(async () => ({ default: (await readings()).Gauge }));
const Clock = lazy(async () => ({ default: (await readings()).Clock }));
const Countdown = lazy(async () => ({ default: (await readings()).Countdown }));
const Picture = lazy(async () => ({ default: (await readings()).Picture }));
const IconWidget = lazy(async () => ({ default: (await readings()).IconWidget }));
const Events = lazy(async () => ({ default: (await readings()).Events }));
const Matrix = lazy(async () => ({ default: (await readings()).Matrix }));
const Schedule = lazy(async () => ({ default: (await readings()).Schedule }));
const LinkWidget = lazy(async () => ({ default: (await readings()).LinkWidget }));

interface PlaceProps {
  readonly widget: Widget;
  /** The position of the widget on a smaller screen. The default is its position in the file. */
  readonly place?: Place | null | undefined;
  /** The number of columns in the grid. */
  readonly columns?: number;
  readonly values: LiveValues;
}

/** Returns whether a widget takes the full width of a phone, because it takes the full width of its grid, or because it is wide and low. */
export function isBroad([wide, high]: Place['size'], columns = Number.POSITIVE_INFINITY): boolean {
  return wide >= columns || (wide > 2 && wide > high * 1.5);
}

export function WidgetPlace(props: PlaceProps) {
  const { visible } = props.widget;
  const isVisible = useFormula(visible, props.values, (value) => value === true);
  // While the values are still on their way, a widget that may have to be hidden is not shown.
  const isShown = () =>
    props.place !== null && (isVisible().failure !== '' || (isVisible().result ?? visible === undefined));
  return (
    <Show when={isShown()}>
      <Shown {...props} failure={isVisible().failure && `visible: ${isVisible().failure}`} />
    </Show>
  );
}

/** The maximum widths at which a widget is narrow, tiny or slim, in rem. */
const narrowRem = 12;
const tinyRem = 9;
const slimRem = 6;

function Shown(props: PlaceProps & { readonly failure: string }) {
  const { type } = props.widget;
  const place = () => props.place ?? props.widget;
  const isOuter = type === 'group' || type === 'tabs';
  const parameters = isOuter ? [] : ownAddressesOf(props.widget).map((address) => props.values.of(address));
  const staleSince = () => parameters.find((parameter) => parameter.staleSince() !== undefined)?.staleSince();
  const wanted = () => parameters.find((parameter) => parameter.wanted() !== undefined)?.wanted();
  const { toneBy } = props.widget;
  const toned = useFormula(toneBy, props.values, toTone);
  const failure = () => props.failure || (toned().failure && `toneBy: ${toned().failure}`);
  const drawn = createMemo(
    () => (isOuter ? (props.widget as Group | Tabs) : drawnAs(props.widget, parameters[0]?.about())),
    undefined,
    { equals: (former, next) => JSON.stringify(former) === JSON.stringify(next) },
  );
  let box!: HTMLDivElement;
  const [shape, setShape] = createSignal({ lying: false, narrow: false, tiny: false, slim: false });
  // The font size follows the size of the widget, which is measured when it changes; a container query would be evaluated with every value.
  onMount(() => {
    if (isOuter) return;
    observeSize(box, (size, rem) => {
      const { width, height } = size;
      box.style.setProperty('--w', `${width / 100}px`);
      box.style.setProperty('--h', `${height / 100}px`);
      setShape({
        lying: isLyingShape(size),
        narrow: width <= narrowRem * rem,
        tiny: width <= tinyRem * rem,
        slim: width <= slimRem * rem,
      });
    });
  });
  return (
    <div
      ref={box}
      class={`widget ${classOf(type)}`}
      classList={{
        old: staleSince() !== undefined,
        ...shape(),
        toned: toned().result !== undefined,
        broad: isOuter || isBroad(place().size, props.columns),
      }}
      data-tone={toned().result}
      style={{
        '--column': place().at[0],
        '--row': place().at[1],
        '--wide': place().size[0],
        '--high': place().size[1],
      }}
      {...useWhy(isOuter ? undefined : ownAddressesOf(props.widget)[0], drawn().label)}
    >
      <Guarded changed={() => parameters.map((one) => [one.value(), one.moves(), one.kind()])}>
        <Suspense>
          <Show when={drawn()} keyed>
            {(widget) =>
              contentOf(widget, {
                values: props.values,
                tone: () => toned().result,
                isLying: () => shape().lying,
              })
            }
          </Show>
        </Suspense>
        <Show when={wanted() !== undefined}>
          <small class="wanted" title={t('Not confirmed by the device yet')}>
            → {showValue(wanted())}
          </small>
        </Show>
        <StaleMark since={staleSince} />
      </Guarded>
      <Show when={failure()}>
        <small class="formula-fault truncate" role="alert" title={failure()}>
          {failure()}
        </small>
      </Show>
    </div>
  );
}

/** The widget types whose names are used as CSS classes. The names of other types would collide with classes used on the whole page. */
const plainTypes: ReadonlySet<string> = new Set([
  'label',
  'value',
  'lamp',
  'button',
  'fader',
  'meter',
  'plot',
  'group',
]);

function classOf(type: string): string {
  return plainTypes.has(type) ? type : `${type}-widget`;
}

interface Outcome<Result> {
  /** The result of the expression. Undefined if there is no expression, if the expression failed, or if the values have not arrived yet. */
  readonly result: Result | undefined;
  /** The reason why the expression failed. Empty if it did not fail. */
  readonly failure: string;
}

/** Returns the result of a widget's expression, updated until the calling reactive scope is disposed. */
function useFormula<Result extends string | boolean>(
  formula: Formula | undefined,
  values: LiveValues,
  read: (value: Value) => Result,
): () => Outcome<Result> {
  if (formula === undefined) return () => ({ result: undefined, failure: '' });
  const answer: Answer = (ask, address) => {
    const parameter = values.of(address);
    const value = parameter.kind()?.type === 'T' ? false : parameter.value();
    if (ask === 'known') return value !== undefined;
    if (ask === 'fresh') return value !== undefined && parameter.staleSince() === undefined;
    return ask === 'wanted' ? (parameter.wanted() ?? value) : value;
  };
  return createMemo<Outcome<Result>>(
    () => {
      try {
        return { result: read(evaluate(formula, answer)), failure: '' };
      } catch (error) {
        return { result: undefined, failure: values.isComplete() ? messageOf(error) : '' };
      }
    },
    { result: undefined, failure: '' },
    { equals: (former, next) => former?.result === next.result && former?.failure === next.failure },
  );
}

function toTone(value: Value): Tone {
  const tone = tones.find((one) => one === value);
  if (tone === undefined) throw new Error(`expected ${tones.join(', ')}, got ${String(value).slice(0, 100)}`);
  return tone;
}

function contentOf(widget: DrawnWidget | Group | Tabs, shared: Omit<WidgetProps<'label'>, 'widget'>): JSX.Element {
  const { values } = shared;
  switch (widget.type) {
    case 'label':
      return <Label widget={widget} {...shared} />;
    case 'value':
      return <Reading widget={widget} {...shared} />;
    case 'lamp':
      return <Lamp widget={widget} {...shared} />;
    case 'meter':
      return <Meter widget={widget} {...shared} />;
    case 'button':
      return <ButtonWidget widget={widget} {...shared} />;
    case 'fader':
      return <FaderWidget widget={widget} {...shared} />;
    case 'plot':
      return <Plot widget={widget} {...shared} />;
    case 'select':
      return <Select widget={widget} {...shared} />;
    case 'radio':
      return <Radio widget={widget} {...shared} />;
    case 'number':
      return <NumberEntry widget={widget} {...shared} />;
    case 'text':
      return <TextEntry widget={widget} {...shared} />;
    case 'alarm':
      return <Alarm widget={widget} {...shared} />;
    case 'gauge':
      return <Gauge widget={widget} {...shared} />;
    case 'clock':
      return <Clock widget={widget} {...shared} />;
    case 'countdown':
      return <Countdown widget={widget} {...shared} />;
    case 'image':
      return <Picture widget={widget} {...shared} />;
    case 'icon':
      return <IconWidget widget={widget} {...shared} />;
    case 'events':
      return <Events widget={widget} {...shared} />;
    case 'schedule':
      return <Schedule widget={widget} {...shared} />;
    case 'matrix':
      return <Matrix widget={widget} {...shared} />;
    case 'link':
      return <LinkWidget widget={widget} {...shared} />;
    case 'group':
      return (
        <>
          <h2 class="truncate" title={widget.label}>
            {widget.label}
          </h2>
          <Grid columns={widget.columns} rows={widget.rows} widgets={widget.widgets} values={values} />
        </>
      );
    case 'tabs':
      return <TabPages widget={widget} values={values} />;
  }
}

/** Shows pages of widgets, one at a time. Arrow keys select the next page, as in the ARIA pattern "Tabs". */
function TabPages(props: { readonly widget: Tabs; readonly values: LiveValues }) {
  const { tabs, label } = props.widget;
  const [chosen, setChosen] = createSignal(0);
  let list!: HTMLDivElement;
  const press = (event: KeyboardEvent) => {
    const last = tabs.length - 1;
    const next = { ArrowRight: chosen() + 1, ArrowLeft: chosen() - 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setChosen(next < 0 ? last : next > last ? 0 : next);
    (list.children[chosen()] as HTMLElement).focus();
  };
  return (
    <>
      <div class="tab-list" role="tablist" aria-label={label} ref={list} onKeyDown={press}>
        <For each={tabs}>
          {(tab, index) => (
            <button
              type="button"
              role="tab"
              class="tab truncate"
              title={tab.label}
              aria-selected={chosen() === index()}
              tabIndex={chosen() === index() ? 0 : -1}
              onClick={() => setChosen(index())}
            >
              {tab.label || String(index() + 1)}
            </button>
          )}
        </For>
      </div>
      <Show when={tabs[chosen()]} keyed>
        {(tab) => (
          <div class="tab-page" role="tabpanel" aria-label={tab.label}>
            <Grid columns={tab.columns} rows={tab.rows} widgets={tab.widgets} values={props.values} />
          </div>
        )}
      </Show>
    </>
  );
}

/** Draws widgets on a grid that fills the available space. */
export function Grid(props: {
  readonly columns: number;
  readonly rows: number;
  readonly widgets: readonly Widget[];
  /** The positions of the widgets on a smaller screen, in the order of the widgets. */
  readonly places?: readonly (Place | null)[] | undefined;
  readonly values: LiveValues;
}) {
  return (
    <div class="widgets" style={{ '--columns': props.columns, '--rows': props.rows }}>
      <For each={props.widgets}>
        {(widget, index) => (
          <Guarded>
            <WidgetPlace
              widget={widget}
              place={props.places?.[index()]}
              columns={props.columns}
              values={props.values}
            />
          </Guarded>
        )}
      </For>
    </div>
  );
}
