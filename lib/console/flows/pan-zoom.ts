// People move over a plane that is larger than the screen: by mouse and wheel, with one or two fingers, and by keys.

import { type Accessor, createSignal } from 'solid-js';
import { listenToKeys, listenToPointers, type Point } from '../page/gestures.ts';

export interface Placement {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const leastScale = 0.1;
const largestScale = 2.5;
const keyStep = 80;
const keyZoom = 1.25;

export interface PanZoom {
  readonly placement: Accessor<Placement>;
  place(placement: Placement): void;
  /** Zooms about the middle of the view. */
  zoom(factor: number): void;
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
  listenToPointers(element, { pan, zoomAt });
  listenToKeys(element, {
    ArrowLeft: () => pan(keyStep, 0),
    ArrowRight: () => pan(-keyStep, 0),
    ArrowUp: () => pan(0, keyStep),
    ArrowDown: () => pan(0, -keyStep),
    '+': () => zoom(keyZoom),
    '-': () => zoom(1 / keyZoom),
    '0': fit,
  });
  return { placement, place, zoom };
}
