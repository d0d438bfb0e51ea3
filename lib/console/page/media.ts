// Properties of the page, or of a part of the page, as signals.

import { type Accessor, batch, createSignal, onCleanup, onMount } from 'solid-js';

/** Returns whether a CSS media query matches, as a signal that is updated until the calling reactive scope is disposed. */
export function useMedia(query: string): Accessor<boolean> {
  const media = matchMedia(query);
  const [matches, setMatches] = createSignal(media.matches);
  const listen = () => setMatches(media.matches);
  media.addEventListener('change', listen);
  onCleanup(() => media.removeEventListener('change', listen));
  return matches;
}

/**
 * Returns the size of an element in pixels as a signal. The element must exist as soon as the calling reactive scope is mounted; until
 * then, the size is 0 by 0.
 */
export function useSize(element: () => Element): Accessor<Size> {
  const [size, setSize] = createSignal({ width: 0, height: 0 });
  onMount(() => {
    const measure = () => setSize({ width: element().clientWidth, height: element().clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element());
    measure();
    onCleanup(() => observer.disconnect());
  });
  return size;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}
type Measure = (size: Size, rem: number) => void;
const measures = new WeakMap<Element, Measure>();
let observer: ResizeObserver | undefined;

/**
 * Calls `measure` with the size of an element's content, and with the size of 1rem, in pixels: first when the element is drawn, and then
 * whenever the size changes, until the calling reactive scope is disposed. A single observer serves all elements, and never forces a
 * layout.
 */
export function observeSize(element: Element, measure: Measure): void {
  observer ??= new ResizeObserver((entries) => {
    const rem = usualPx * letterScale();
    batch(() => {
      for (const { target, contentRect } of entries) measures.get(target)?.(contentRect, rem);
    });
  });
  measures.set(element, measure);
  observer.observe(element);
  onCleanup(() => observer?.unobserve(element));
}

/** The font size, in pixels, on which sizes in pixels are based. */
const usualPx = 14;

/** Returns the size of letters relative to their size on ordinary screens. The result is above 1 on a screen such as 4K at 1×. */
export function letterScale(): number {
  return Math.max(1, Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / usualPx || 1);
}

/** Returns the smallest readable font size in pixels. */
export function leastLetters(): number {
  return 11 * letterScale() + (letterScale() > 1 ? 0.5 : 0);
}
