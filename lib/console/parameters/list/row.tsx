// One row of the parameter list: a folder, or a parameter with its live value and its last change.

import { createEffect, createMemo, createSignal, Index, type JSX, on, onCleanup, onMount, Show } from 'solid-js';
import type { ValueType } from '../../../client/index.ts';
import { writerName } from '../../../model/writer.ts';
import { ownAccess } from '../../hub/me.ts';
import { formatCount } from '../../language/language.ts';
import { formatClock, formatValue } from '../../page/units.ts';
import { Guarded } from '../../parts/guarded.tsx';
import { StaleMark } from '../../parts/state-mark.tsx';
import { LiveText } from '../../parts/text.tsx';
import type { Catalogue } from '../catalogue.ts';
import type { LiveRow } from './live-window.ts';
import type { Row } from './rows.ts';

interface ParameterRowProps {
  readonly place: number;
  readonly row: Row;
  readonly catalogue: Catalogue;
  readonly live: LiveRow | undefined;
  readonly isTree: boolean;
  readonly isFocused: boolean;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

export function ParameterRow(props: ParameterRowProps) {
  const isFolder = () => props.row.index < 0;
  const type = () => props.catalogue.typeOf(props.row.index);
  const writer = () => {
    const origin = props.live?.info()?.origin;
    return origin && writerName(origin);
  };
  return (
    <div
      id={rowId(props.place)}
      class="row"
      classList={{ focused: props.isFocused, opened: props.isOpen, folder: isFolder() }}
      role="row"
      aria-rowindex={props.place + 2}
      aria-level={props.isTree ? props.row.depth + 1 : undefined}
      aria-expanded={isFolder() ? props.row.isOpen : undefined}
      aria-selected={props.isOpen}
      data-address={props.row.address}
      onClick={() => props.onOpen()}
    >
      <span
        role="gridcell"
        class="name truncate"
        title={[props.row.address, props.live?.about()?.label].filter(Boolean).join(' ')}
        style={{ 'padding-left': `${props.row.depth * 1.1 + (props.row.depth > 0 && !isFolder() ? 1 : 0)}rem` }}
      >
        <Show when={isFolder()}>
          <span class="twist" aria-hidden="true">
            {props.row.isOpen ? '▾' : '▸'}
          </span>
        </Show>
        {props.row.label}
        <Show when={props.live?.about()?.label}>{(label) => <small class="muted"> {label()}</small>}</Show>
        <Show when={isFolder()}>
          {' '}
          <small>{formatCount(props.row.count)}</small>
        </Show>
      </span>
      <Show when={!isFolder()} fallback={<span role="gridcell" class="value" />}>
        <LiveValue live={props.live} isTrigger={type() === 'T'} isBoolean={type() === 'B'} />
        <span role="gridcell" class="muted type" title={typeNames[type()]}>
          {type()}
        </span>
        <span role="gridcell" class="muted access">
          {ownAccess(props.row.address, props.catalogue.accessOf(props.row.index))}
        </span>
        <span role="gridcell" class="muted time">
          {props.live?.info()?.time ? formatClock(props.live.info()!.time!) : ''}
        </span>
        <span role="gridcell" class="muted origin truncate" title={writer()}>
          {writer()}
        </span>
      </Show>
    </div>
  );
}

function LiveValue(props: {
  readonly live: LiveRow | undefined;
  readonly isTrigger: boolean;
  readonly isBoolean: boolean;
}) {
  const text = () => {
    const value = props.live?.value();
    if (props.live === undefined) return '';
    if (props.isTrigger) return 'trigger';
    const { unit = '' } = props.live.about() ?? {};
    const wanted = props.live.wanted();
    const shown = value === undefined ? 'unknown' : `${formatValue(value)} ${unit}`.trimEnd();
    return wanted === undefined ? shown : `${shown} → ${formatValue(wanted)}`;
  };
  return (
    <span
      role="gridcell"
      class="value mono truncate live"
      classList={{
        muted: props.isTrigger || props.live?.value() === undefined,
        on: props.live?.value() === true,
        fresh: props.live?.isFresh(),
      }}
      onMouseEnter={({ currentTarget }) => {
        currentTarget.title = text(); // because the row may truncate the text
      }}
    >
      <StaleMark since={() => props.live?.staleSince()} />
      <Show when={props.isBoolean && props.live?.value() !== undefined}>
        <span class="bulb" aria-hidden="true" />
      </Show>
      <LiveText text={text()} />
    </span>
  );
}

// A virtual grid of any length. Only the rows in view are in the DOM. The rows have equal height and move as one block.

/** The number of rows above and below the view that are also drawn. */
const margin = 4;
/** The maximum height that browsers lay out, in pixels. Rows beyond this height cannot be reached. */
const maxHeightPx = 15_000_000;

interface VirtualListProps {
  readonly label: string;
  readonly isTree: boolean;
  readonly header: JSX.Element;
  readonly length: number;
  readonly rowHeight: number;
  /** The index of the focused row, which is kept in view; -1 if no row is focused. */
  readonly focused: number;
  /** Called with the index of the row to which the focus moves. */
  readonly onFocus: (place: number) => void;
  /** Called for each key that does not move the focus. */
  readonly onKey: (event: KeyboardEvent) => void;
  /** Called with the range of rows in view, excluding `to`, whenever this range changes. */
  readonly onRange: (from: number, to: number) => void;
  /** Draws the row at an index, which may change. The id of the row is `rowId(place)`. */
  readonly children: (place: () => number) => JSX.Element;
}

export const rowId = (place: number) => `row-${place}`;

export function VirtualList(props: VirtualListProps) {
  let box!: HTMLDivElement;
  const [top, setTop] = createSignal(0);
  const [height, setHeight] = createSignal(0);
  const from = createMemo(() => Math.max(0, Math.min(Math.floor(top() / props.rowHeight) - margin, props.length - 1)));
  const to = createMemo(() => Math.min(props.length, Math.ceil((top() + height()) / props.rowHeight) + margin));
  const places = createMemo(() => Array.from({ length: Math.max(0, to() - from()) }, (_, offset) => from() + offset));

  onMount(() => {
    const observer = new ResizeObserver(() => setHeight(box.clientHeight));
    observer.observe(box);
    onCleanup(() => observer.disconnect());
  });
  createEffect(on([from, to], ([first, last]) => props.onRange(first, last)));
  createEffect(
    on([() => props.focused, height], ([place]) => {
      const start = place * props.rowHeight;
      const seen = box.clientHeight - (box.firstElementChild?.clientHeight ?? 0);
      if (place < 0 || height() === 0) return;
      if (start < box.scrollTop) box.scrollTop = start;
      else if (start + props.rowHeight > box.scrollTop + seen) box.scrollTop = start + props.rowHeight - seen;
    }),
  );

  const press = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height() / props.rowHeight) - 2);
    const next = placeAfterKey(event.key, props.focused, props.length, page);
    if (next === undefined) return props.onKey(event);
    event.preventDefault();
    props.onFocus(next);
  };

  return (
    <div
      class="scroll grid"
      role={props.isTree ? 'treegrid' : 'grid'}
      aria-label={props.label}
      aria-rowcount={props.length + 1}
      aria-activedescendant={props.focused >= from() && props.focused < to() ? rowId(props.focused) : undefined}
      tabIndex={0}
      ref={box}
      onScroll={() => setTop(box.scrollTop)}
      onKeyDown={press}
    >
      {props.header}
      <div
        role="presentation"
        class="rows"
        style={{ height: `${Math.min(maxHeightPx, props.length * props.rowHeight)}px` }}
      >
        <div role="presentation" style={{ transform: `translateY(${from() * props.rowHeight}px)` }}>
          <Index each={places()}>{(place) => <Guarded changed={place}>{props.children(place)}</Guarded>}</Index>
        </div>
      </div>
    </div>
  );
}

/** Returns the index of the focused row after a key press, or undefined if the key does not move the focus. */
function placeAfterKey(key: string, place: number, length: number, page: number): number | undefined {
  const step = new Map([
    ['ArrowDown', place + 1],
    ['ArrowUp', place - 1],
    ['PageDown', place + page],
    ['PageUp', place - page],
    ['Home', 0],
    ['End', length - 1],
  ]).get(key);
  return step === undefined ? undefined : Math.max(0, Math.min(step, length - 1));
}

// The names of the value types.

export const typeNames: Readonly<Record<ValueType, string>> = {
  S: 'text',
  B: 'boolean',
  I: 'integer',
  F: 'float',
  T: 'trigger',
};
