// Gestures that pan and zoom an element: by mouse and wheel, with one or two fingers, and by keys.

import { onCleanup } from 'solid-js';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Receives gestures: a pan by a distance, or a zoom by a factor around a point, both in the element's coordinates. */
export interface Moves {
  pan(dx: number, dy: number): void;
  zoomAt(at: Point, factor: number): void;
}

/** The distance in pixels from which a pointer movement counts as a drag; a shorter movement is a click. */
const dragDistance = 4;

/**
 * Reports gestures made on an element with the mouse, the wheel, or one or two fingers, until the calling reactive scope is disposed. A
 * drag does not cause a click.
 */
export function listenToPointers(element: HTMLElement, { pan, zoomAt }: Moves): void {
  const signal = signalOfScope();
  const pointers = new Map<number, Point>();
  let moved = 0;
  const within = ({ clientX, clientY }: MouseEvent): Point => {
    const { left, top } = element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 24 : 1;
    if (event.shiftKey) pan(-event.deltaY * lines, 0);
    else zoomAt(within(event), Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0015)));
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    if (pointers.size === 0) moved = 0;
    pointers.set(event.pointerId, within(event));
  };
  const move = (event: PointerEvent) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = within(event);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    moved += Math.hypot(now.x - before.x, now.y - before.y);
    pointers.set(event.pointerId, now);
    if (moved < dragDistance) return;
    if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
    const share = other ? 0.5 : 1; // two fingers pan by half the distance each
    pan((now.x - before.x) * share, (now.y - before.y) * share);
    if (!other) return;
    const distance = (point: Point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
    zoomAt({ x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }, distance(now) / distance(before));
  };
  const up = (event: PointerEvent) => void pointers.delete(event.pointerId);
  const click = (event: MouseEvent) => {
    if (moved >= dragDistance && event.detail > 0) event.stopPropagation(); // the pointer was dragged
  };
  element.addEventListener('wheel', wheel, { passive: false, signal });
  element.addEventListener('pointerdown', down, { signal });
  element.addEventListener('pointermove', move, { signal });
  element.addEventListener('pointerup', up, { signal });
  element.addEventListener('pointercancel', up, { signal });
  element.addEventListener('click', click, { capture: true, signal });
}

/** Reports presses of the named keys on an element until the calling reactive scope is disposed. */
export function listenToKeys(element: HTMLElement, keys: Readonly<Record<string, () => void>>): void {
  const press = (event: KeyboardEvent) => {
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (event.ctrlKey || event.metaKey || event.altKey || !act) return;
    event.preventDefault();
    act();
  };
  element.addEventListener('keydown', press, { signal: signalOfScope() });
}

function signalOfScope(): AbortSignal {
  const end = new AbortController();
  onCleanup(() => end.abort());
  return end.signal;
}
