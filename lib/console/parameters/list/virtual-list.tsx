// A grid of any length. Only rows in view are in the page: rows of one height, which move as one block while it scrolls.

import { createEffect, createMemo, createSignal, Index, type JSX, on, onCleanup, onMount } from 'solid-js';
import { Guarded } from '../../parts/guarded.tsx';

/** How many rows above and below the view are drawn too. */
const margin = 4;
/** Browsers lay out no taller boxes, so nobody reaches rows beyond this. */
const maxHeightPx = 15_000_000;

export interface VirtualListProps {
  readonly label: string;
  readonly isTree: boolean;
  readonly header: JSX.Element;
  readonly length: number;
  readonly rowHeight: number;
  /** The place that has the focus, which is kept in view; -1: none. */
  readonly focused: number;
  /** The focus moves to another place. */
  readonly onFocus: (place: number) => void;
  /** Hears any other key. */
  readonly onKey: (event: KeyboardEvent) => void;
  /** Hears which places are in view, from the first up to the one after the last, whenever they change. */
  readonly onRange: (from: number, to: number) => void;
  /** Draws the row at a place. The place may change; the id of the row is `rowId(place)`. */
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

/** Which place has the focus after a key; undefined: it is none that moves it. */
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
