// A fader as on a desk: a hand moves its cap from where it is. A press on the cap or on the track does not move it, and neither
// does a hand that scrolls the page.
import { createEffect, onCleanup, onMount, Show } from 'solid-js';
import { shareOf, showValue } from '../showing.ts';
import { Amount, Trouble, useWrites, type WidgetProps } from '../widget.tsx';
import { createFaderValue } from './fader-value.ts';

export function FaderWidget(props: WidgetProps<'fader'>) {
  const { address, label, min, max, unit, digits } = props.widget;
  const parameter = props.values.of(address);
  const writes = useWrites(address);
  const value = createFaderValue(props.widget, parameter, writes);
  const { shown, place, readOnly, isFree } = value;
  let rail!: HTMLDivElement;
  let cap!: HTMLSpanElement;
  let input!: HTMLInputElement;
  let start = min;
  createEffect(() => {
    input.value = String(place());
    rail.style.setProperty('--share', String(shareOf(shown(), min, max)));
  });
  onMount(() =>
    createDrag(cap, {
      isFree,
      way: (axis) => (axis === 'x' ? rail.clientWidth - cap.clientWidth : cap.clientHeight - rail.clientHeight),
      begin() {
        start = place();
        value.hold();
      },
      moveBy: (share) => value.moveTo(start + share * (max - min)),
      end: value.letGo,
    }),
  );
  const press = (event: KeyboardEvent) => {
    if (!event.ctrlKey && !event.altKey && !event.metaKey && value.press(event.key)) event.preventDefault();
  };

  return (
    <>
      <p class="name truncate" title={label}>
        {label}
      </p>
      <div class="rail" ref={rail} classList={{ off: !isFree() }} title={readOnly() || undefined}>
        <input
          ref={input}
          type="range"
          aria-label={label ?? address}
          aria-valuetext={`${showValue(shown(), digits)} ${unit}`.trim()}
          min={min}
          max={max}
          step="any"
          disabled={!isFree()}
          onKeyDown={press}
          onInput={(event) => value.set(event.currentTarget.valueAsNumber)} // a screen reader moved it, which presses no key
        />
        <span class="cap" ref={cap} aria-hidden="true" onPointerDown={() => input.focus({ preventScroll: true })} />
      </div>
      <Amount value={shown()} digits={digits} unit={unit} />
      <Show when={readOnly()}>
        <small class="word">read-only</small>
      </Show>
      <Trouble address={address} parameter={parameter} values={props.values} failure={writes.failure()} />
    </>
  );
}

// Moves something by hand along a line, relative to where the hand took hold. A press alone moves nothing, and nothing jumps to the
// finger.

/** A hand that rests moves by less than this. */
const slopPx = { mouse: 3, touch: 8 };

interface DragOptions {
  /** Whether a hand may take hold now. */
  readonly isFree: () => boolean;
  /** How many pixels the hand moves from one end to the other. Negative: down is more; 0: it cannot move. */
  readonly way: (axis: 'x' | 'y') => number;
  /** The hand begins to move. */
  readonly begin: () => void;
  /** The hand has moved by this share of the way since it began, -1..1 and beyond. */
  readonly moveBy: (share: number) => void;
  readonly end: () => void;
}

/** Makes an element a handle. Its style says with `--axis`, x or y, along which line. It ends with the scope that calls it. */
function createDrag(handle: HTMLElement, { isFree, way, begin, moveBy, end }: DragOptions): void {
  let held: { pointer: number; axis: 'x' | 'y'; from: number; isMoving: boolean } | undefined;

  const placeOf = (event: PointerEvent, axis: 'x' | 'y') => (axis === 'x' ? event.clientX : event.clientY);
  const down = (event: PointerEvent) => {
    if (event.button !== 0 || held || !isFree()) return;
    const axis = getComputedStyle(handle).getPropertyValue('--axis').trim() === 'x' ? 'x' : 'y';
    held = { pointer: event.pointerId, axis, from: placeOf(event, axis), isMoving: false };
    handle.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    if (event.pointerId !== held?.pointer) return;
    if (!isFree()) return letGo(event);
    const moved = placeOf(event, held.axis) - held.from;
    const slop = event.pointerType === 'mouse' ? slopPx.mouse : slopPx.touch;
    if (!held.isMoving) {
      if (Math.abs(moved) < slop) return;
      held.isMoving = true;
      held.from += Math.sign(moved) * slop; // so that it does not jump by the slop
      begin();
    }
    const length = way(held.axis);
    if (length !== 0) moveBy((placeOf(event, held.axis) - held.from) / length);
  };
  const letGo = (event: PointerEvent) => {
    if (event.pointerId !== held?.pointer) return;
    const { isMoving } = held;
    held = undefined;
    if (isMoving) end();
  };
  const ends = new AbortController();
  const { signal } = ends;
  handle.addEventListener('pointerdown', down, { signal });
  handle.addEventListener('pointermove', move, { signal });
  for (const name of ['pointerup', 'pointercancel', 'lostpointercapture'] as const)
    handle.addEventListener(name, letGo, { signal });
  onCleanup(() => ends.abort());
}
