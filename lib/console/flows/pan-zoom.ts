// People move over a plane that is larger than the screen: by mouse and wheel, with one or two fingers, and by keys.

import { type Accessor, createSignal, onCleanup } from 'solid-js';

export interface Placement {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const leastScale = 0.1;
const largestScale = 2.5;
const keyStep = 80;
const keyZoom = 1.25;
/** A pointer that has moved this far drags. One that has moved less clicks. */
const dragDistance = 4;

export interface PanZoom {
  readonly placement: Accessor<Placement>;
  place(placement: Placement): void;
  /** Zooms about the middle of the view. */
  zoom(factor: number): void;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** How listeners move the plane: by a way, or by a factor about a point, both as the element has them. */
interface Moves {
  pan(dx: number, dy: number): void;
  zoomAt(at: Point, factor: number): void;
}

/** Makes an element the window onto a plane; `fit` shows all of the plane. It ends with the scope that calls it. */
export function createPanZoom(element: HTMLElement, fit: () => void): PanZoom {
  const [placement, place] = createSignal<Placement>({ x: 0, y: 0, scale: 1 });
  const pan = (dx: number, dy: number) => place(({ x, y, scale }) => ({ x: x + dx, y: y + dy, scale }));
  const zoomAt = (at: Point, factor: number) =>
    place(({ x, y, scale }) => {
      const next = Math.min(largestScale, Math.max(leastScale, scale * factor));
      const ratio = next / scale;
      return { x: at.x - (at.x - x) * ratio, y: at.y - (at.y - y) * ratio, scale: next };
    });
  const zoom = (factor: number) => zoomAt({ x: element.clientWidth / 2, y: element.clientHeight / 2 }, factor);
  const end = new AbortController();
  listenToPointers(element, { pan, zoomAt }, end.signal);
  listenToKeys(
    element,
    {
      ArrowLeft: () => pan(keyStep, 0),
      ArrowRight: () => pan(-keyStep, 0),
      ArrowUp: () => pan(0, keyStep),
      ArrowDown: () => pan(0, -keyStep),
      '+': () => zoom(keyZoom),
      '-': () => zoom(1 / keyZoom),
      '0': fit,
    },
    end.signal,
  );
  onCleanup(() => end.abort());
  return { placement, place, zoom };
}

function listenToPointers(element: HTMLElement, { pan, zoomAt }: Moves, signal: AbortSignal): void {
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
    const share = other ? 0.5 : 1; // each of two fingers moves half
    pan((now.x - before.x) * share, (now.y - before.y) * share);
    if (!other) return;
    const distance = (point: Point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
    zoomAt({ x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }, distance(now) / distance(before));
  };
  const up = (event: PointerEvent) => void pointers.delete(event.pointerId);
  const click = (event: MouseEvent) => {
    if (moved >= dragDistance && event.detail > 0) event.stopPropagation(); // it was a drag
  };
  element.addEventListener('wheel', wheel, { passive: false, signal });
  element.addEventListener('pointerdown', down, { signal });
  element.addEventListener('pointermove', move, { signal });
  element.addEventListener('pointerup', up, { signal });
  element.addEventListener('pointercancel', up, { signal });
  element.addEventListener('click', click, { capture: true, signal });
}

function listenToKeys(element: HTMLElement, keys: Readonly<Record<string, () => void>>, signal: AbortSignal): void {
  const press = (event: KeyboardEvent) => {
    const act = keys[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || !act) return;
    event.preventDefault();
    act();
  };
  element.addEventListener('keydown', press, { signal });
}
