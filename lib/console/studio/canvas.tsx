// The grid of a panel that is being edited. Widgets show live values, and their controls are locked. With a pointer, users select, move and
// resize widgets; an item dragged from the palette shows where it would be placed.

import { createEffect, createMemo, createSignal, For, on, onCleanup, onMount, Show } from 'solid-js';
import type { SingleWidget } from '../../dashboard/format.ts';
import { maxLines, type Pair } from '../../dashboard/place-items.ts';
import { isBroad, WidgetPlace } from '../dashboard/widget-place.tsx';
import type { LiveValues } from '../hub/live-values.ts';
import { Guarded } from '../parts/guarded.tsx';
import { allGrids, type Grid, type Item, isFree, type Tab, textOf } from './panel-data.ts';
import { completed, type Holds, type Kinds } from './widget-kinds.ts';

/** The sizes of the screens on which a panel can be shown, in pixels. */
export const screens = {
  fit: undefined,
  phone: [390, 844],
  tablet: [1180, 820],
  '1080p': [1920, 1080],
  '4K': [3840, 2160],
} as const;
export type Screen = keyof typeof screens;

/** Where a dragged widget would be placed: the list, the position and the size. */
export interface Target {
  readonly list: string;
  readonly at: Pair;
  readonly size: Pair;
  readonly isFree: boolean;
}

/** A drag in progress: of a widget on the grid, of a widget's corner, or of a new widget. */
export interface Drag {
  readonly kind: 'move' | 'resize' | 'new';
  readonly key: string;
  readonly size: Pair;
  /** The cell under the pointer, relative to the widget's upper left corner. */
  readonly grip: Pair;
  readonly holds: Holds;
}

/** The space around the screen on which the panel is shown, in pixels. */
const marginPx = 12;
/** The distance from which a pointer movement counts as a drag, in pixels; a shorter movement selects. */
const dragDistance = 5;

/**
 * Follows the pointer from press to release. `move` is called for each movement during a drag, and `end` when the pointer is released, with
 * whether it was dragged.
 */
export function followPointer(
  event: PointerEvent,
  move: (event: PointerEvent) => void,
  end: (hasDragged: boolean) => void,
): void {
  if (event.button !== 0) return;
  const over = new AbortController();
  const { signal } = over;
  let hasDragged = false;
  const finish = (isDropped: boolean) => {
    over.abort();
    end(hasDragged && isDropped);
  };
  addEventListener(
    'pointermove',
    (now) => {
      if (now.pointerId !== event.pointerId) return;
      hasDragged ||= Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) >= dragDistance;
      if (hasDragged) move(now);
    },
    { signal },
  );
  addEventListener('pointerup', (now) => now.pointerId === event.pointerId && finish(true), { signal });
  addEventListener('pointercancel', () => finish(false), { signal });
  addEventListener('blur', () => finish(false), { signal });
}

interface CanvasProps {
  readonly grid: Grid;
  readonly kinds: Kinds;
  readonly values: LiveValues;
  readonly screen: Screen;
  readonly selected: ReadonlySet<string>;
  readonly target: Target | undefined;
  readonly isLocked: boolean;
  hasError(item: Item): boolean;
  select(item: Item | undefined, isMore: boolean): void;
  drag(drag: Drag, event: PointerEvent): void;
  drop(drag: Drag, hasDragged: boolean): void;
}

/** The grid of a panel in the proportions of a screen, as large as possible. */
export function Canvas(props: CanvasProps) {
  let frame!: HTMLDivElement;
  const [space, setSpace] = createSignal<Pair>([1, 1]);
  const size = () => screens[props.screen];
  const measure = () => setSpace([frame.clientWidth - 2 * marginPx, frame.clientHeight - 2 * marginPx]);
  const observer = new ResizeObserver(measure);
  onMount(() => observer.observe(frame));
  onCleanup(() => observer.disconnect());
  const scale = () => {
    const [wide, high] = size() ?? [1, 1];
    return Math.max(0.05, Math.min(1, space()[0] / wide, space()[1] / high));
  };
  const zoomed = () => {
    const [wide, high] = size() ?? [];
    return wide === undefined ? {} : { width: `${wide * scale()}px`, height: `${high! * scale()}px` };
  };
  const whole = () => {
    const [wide, high] = size() ?? [];
    return wide === undefined ? {} : { width: `${wide}px`, height: `${high}px`, transform: `scale(${scale()})` };
  };
  return (
    <div class="stage" ref={frame} onPointerDown={(event) => event.target === frame && props.select(undefined, false)}>
      <div class="zoomed" classList={{ fits: size() === undefined }} style={zoomed()}>
        <div class="screen" classList={{ phone: props.screen === 'phone' }} style={whole()}>
          <StudioGrid {...props} grid={props.grid} isOuter={true} />
        </div>
      </div>
    </div>
  );
}

function StudioGrid(props: CanvasProps & { readonly isOuter: boolean }) {
  const shownRows = () => {
    const { rows, isOpen } = props.grid;
    const isDragged = props.target?.list === props.grid.path ? props.target.at[1] + props.target.size[1] - 1 : 0;
    const spare = isOpen && props.screen === 'fit' ? 1 : 0;
    return Math.min(maxLines, Math.max(props.isOuter && props.screen === 'fit' ? 4 : 1, rows + spare, isDragged));
  };
  const cells = () =>
    props.screen === 'phone' || !(props.isOuter || props.target)
      ? []
      : Array.from({ length: shownRows() * props.grid.columns }, (_, index) => index);
  const byKey = createMemo(() => new Map(props.grid.items.map((item) => [item.key, item])));
  const keys = createMemo(() => [...byKey().keys()], [] as string[], {
    equals: (former, next) => former.length === next.length && former.every((key, at) => key === next[at]),
  });
  return (
    <div
      class="widgets"
      data-list={props.grid.path}
      data-columns={props.grid.columns}
      data-rows={shownRows()}
      style={{ '--columns': props.grid.columns, '--rows': shownRows() }}
      onPointerDown={(event) => {
        if (!(event.target as Element).closest('.spot')) props.select(undefined, false);
      }}
    >
      <For each={cells()}>
        {(index) => (
          <i
            class="cell"
            style={{
              'grid-area': `${Math.floor(index / props.grid.columns) + 1} / ${(index % props.grid.columns) + 1}`,
            }}
          />
        )}
      </For>
      <Show when={props.isOuter && keys().length === 0 && !props.target}>
        <p class="hint">Drag a parameter or a widget here</p>
      </Show>
      <For each={keys()}>
        {(key) => {
          let known = byKey().get(key)!;
          const item = createMemo(() => {
            known = byKey().get(key) ?? known;
            return known;
          });
          return (
            <Guarded changed={item}>
              <Spot {...props} item={item()} />
            </Guarded>
          );
        }}
      </For>
      <Show when={props.target?.list === props.grid.path && props.target}>
        {(target) => (
          <div class="ghost" classList={{ taken: !target().isFree }} style={places(target().at, target().size)} />
        )}
      </Show>
    </div>
  );
}

function places(at: Pair, size: Pair) {
  return { '--column': at[0], '--row': at[1], '--wide': size[0], '--high': size[1] };
}

function titleOf({ shown }: Item): string {
  const { type, label, address, addresses } = shown;
  return `${textOf(type, 'widget')} ${textOf(label ?? address ?? [addresses].flat()[0])}`.trim();
}

/** A widget on the grid, with its handles for moving and resizing. */
function Spot(props: CanvasProps & { readonly item: Item }) {
  const isSelected = () => props.selected.has(props.item.key);
  const isFixed = () => props.item.made > 0 || props.isLocked || props.screen === 'phone';
  const begin = (kind: 'move' | 'resize') => (event: PointerEvent) => {
    event.stopPropagation();
    const isMore = event.shiftKey || event.ctrlKey || event.metaKey;
    if (!isSelected() || isMore) props.select(props.item, isMore);
    if (isFixed()) return;
    const { left, top, width, height } = (event.currentTarget as Element).closest('.spot')!.getBoundingClientRect();
    const { size, key } = props.item;
    const cell = (offset: number, whole: number, count: number) =>
      Math.min(count - 1, Math.max(0, Math.floor((offset / whole) * count)));
    const grip: Pair = [cell(event.clientX - left, width, size[0]), cell(event.clientY - top, height, size[1])];
    const drag: Drag = { kind, key, size, grip, holds: props.item.inner ? 'widgets' : props.item.tabs && 'tabs' };
    followPointer(
      event,
      (now) => props.drag(drag, now),
      (hasDragged) => props.drop(drag, hasDragged),
    );
  };
  const kind = () => props.kinds.of(props.item.shown.type);
  const isOuter = () => (props.item.inner ?? props.item.tabs) !== undefined;
  return (
    <div
      class="spot"
      data-type={textOf(props.item.shown.type)}
      classList={{
        selected: isSelected(),
        wrong: props.hasError(props.item),
        broad: isOuter() || isBroad(props.item.size, props.grid.columns),
        group: isOuter(),
      }}
      data-path={props.item.path}
      style={places(props.item.at, props.item.size)}
      role="group"
      tabIndex={0}
      aria-label={`${titleOf(props.item)}, column ${props.item.at[0]}, row ${props.item.at[1]}${isSelected() ? ', selected' : ''}`}
      onPointerDown={begin('move')}
      onFocus={(event) => event.target === event.currentTarget && !isSelected() && props.select(props.item, false)}
    >
      <Show when={!isOuter()}>
        <Drawn {...props} item={props.item} kind={kind()} />
      </Show>
      <Show when={props.item.tabs}>{(tabs) => <Pages {...props} tabs={tabs()} />}</Show>
      <Show when={props.item.inner}>
        {(inner) => (
          <div class="widget group">
            <h2 class="truncate">{textOf(props.item.shown.label)}</h2>
            <StudioGrid {...props} grid={inner()} isOuter={false} />
          </div>
        )}
      </Show>
      <Show when={props.item.made > 1}>
        <small class="made-by" title="one of several copies created by `each`: a change applies to all of them">
          × {props.item.made}
        </small>
      </Show>
      <Show when={isSelected() && !isFixed()}>
        <span class="handle" title="Drag to resize" onPointerDown={begin('resize')} />
      </Show>
    </div>
  );
}

/** The pages of a tabs widget, one of which is shown. When a page is added, it is shown immediately. */
function Pages(props: CanvasProps & { readonly item: Item; readonly tabs: readonly Tab[] }) {
  const [chosen, setChosen] = createSignal(0);
  const count = () => props.tabs.length;
  createEffect(on(count, (now, before = now) => now > before && setChosen(now - 1)));
  const index = () => Math.min(chosen(), count() - 1);
  return (
    <div class="widget tabs-widget">
      <div class="tab-list" role="group" aria-label="Tabs">
        <For each={props.tabs.map(({ label }) => label)}>
          {(label, number) => (
            <button
              type="button"
              class="tab truncate"
              title={label}
              aria-pressed={index() === number()}
              onPointerDown={(event) => event.button === 0 && event.stopPropagation()}
              onClick={() => {
                setChosen(number());
                props.select(props.item, false);
              }}
            >
              {label || String(number() + 1)}
            </button>
          )}
        </For>
      </div>
      <Show when={props.tabs[index()]?.grid.path} keyed>
        <div class="tab-page">
          <StudioGrid {...props} grid={props.tabs[index()]!.grid} isOuter={false} />
        </div>
      </Show>
    </div>
  );
}

/** A widget as a panel draws it. The widget is drawn again when its settings change, but not when it moves. */
function Drawn(props: { readonly item: Item; readonly kind: ReturnType<Kinds['of']>; readonly values: LiveValues }) {
  const drawn = createMemo(
    () => {
      const { kind, item } = props;
      const whole = kind && completed(kind, item.shown);
      return whole === undefined ? '' : JSON.stringify({ ...whole, at: [1, 1], size: item.size });
    },
    '',
    { equals: (one, other) => one === other },
  );
  return (
    <div class="locked" inert>
      <Show
        when={drawn()}
        keyed
        fallback={<p class="widget missing">{props.kind === undefined ? 'Unknown type' : 'Choose a parameter'}</p>}
      >
        {(json) => <WidgetPlace widget={JSON.parse(json) as SingleWidget} values={props.values} />}
      </Show>
    </div>
  );
}

/**
 * Returns whether a list of widgets may contain a widget that contains other widgets: a group may not contain a group, and nothing may
 * contain tabs.
 */
function mayHold(list: string, holds: Holds): boolean {
  return holds === undefined || list === 'widgets' || (holds === 'widgets' && /\.tabs\[\d+\]\.widgets$/.test(list));
}

/** Returns where a drag would place its widget, or undefined if the pointer is not over the grid. */
export function targetAt(
  stage: Element,
  grid: Grid,
  drag: Drag,
  item: Item | undefined,
  event: MouseEvent,
): Target | undefined {
  const { clientX, clientY } = event;
  const lists = [...stage.querySelectorAll<HTMLElement>('[data-list]')].filter((list) => {
    const { left, right, top, bottom } = list.getBoundingClientRect();
    return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
  });
  const own = drag.kind === 'resize' ? item?.path.replace(/\[\d+\]$/, '') : undefined;
  const meant = allGrids(grid);
  const list =
    drag.kind === 'resize'
      ? stage.querySelector<HTMLElement>(`[data-list="${own}"]`)
      : lists.findLast(
          (one) => mayHold(one.dataset.list!, drag.holds) && meant.some(({ path }) => path === one.dataset.list),
        );
  const found = meant.find(({ path }) => path === list?.dataset.list);
  if (list === null || list === undefined || found === undefined) return undefined;
  const { left, top, width, height } = list.getBoundingClientRect();
  const [columns, rows] = [Number(list.dataset.columns), Number(list.dataset.rows)];
  const cell: Pair = [
    Math.floor(((clientX - left) / width) * columns) + 1,
    Math.floor(((clientY - top) / height) * rows) + 1,
  ];
  const highest = found.isOpen ? maxLines : found.rows;
  if (drag.kind === 'resize' && item !== undefined) {
    const { at } = item;
    const size: Pair = [
      Math.min(found.columns - at[0] + 1, Math.max(1, cell[0] - at[0] + 1)),
      Math.min(highest - at[1] + 1, Math.max(1, cell[1] - at[1] + 1)),
    ];
    return { list: found.path, at, size, isFree: isFree(found, at, size, [drag.key]) };
  }
  const size: Pair = [Math.min(drag.size[0], found.columns), Math.min(drag.size[1], highest)];
  const at: Pair = [
    Math.min(found.columns - size[0] + 1, Math.max(1, cell[0] - Math.min(drag.grip[0], size[0] - 1))),
    Math.min(highest - size[1] + 1, Math.max(1, cell[1] - Math.min(drag.grip[1], size[1] - 1))),
  ];
  return { list: found.path, at, size, isFree: isFree(found, at, size, [drag.key]) };
}
