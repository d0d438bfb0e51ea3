// A fader as on a mixing desk: dragging moves its cap from its current position. A press on the cap or the track does not move it, and
// neither does scrolling the page.
import { createEffect, createSignal, onCleanup, onMount, Show } from 'solid-js';
import { useDelay } from '../../page/page-timers.ts';
import { Scale } from '../readings/readings.tsx';
import { shareOf, showValue, valueAt } from '../showing.ts';
import { Amount, useWrites, WidgetFault, type WidgetProps } from '../widget.tsx';
import { createFaderValue } from './fader-value.ts';
import { createGuard, type Guarding, HoldButton } from './guard.tsx';

export function FaderWidget(props: WidgetProps<'fader'>) {
  const { address, label, min, max, unit, digits, law, scale } = props.widget;
  const parameter = props.values.of(address);
  const writes = useWrites(address);
  const value = createFaderValue(props.widget, parameter, writes);
  const { shown, place, readOnly, isFree } = value;
  const lock = createLock(props.widget, label ?? address);
  let rail!: HTMLDivElement;
  let cap!: HTMLSpanElement;
  let input!: HTMLInputElement;
  let start = 0;
  createEffect(() => {
    input.value = String(place());
    rail.style.setProperty('--share', String(shareOf(shown(), min, max, law)));
  });
  onMount(() =>
    createDrag(cap, {
      isFree: () => isFree() && !lock.isLocked(),
      way: (axis) => (axis === 'x' ? rail.clientWidth - cap.clientWidth : cap.clientHeight - rail.clientHeight),
      begin() {
        start = shareOf(place(), min, max, law);
        lock.stayOpen();
        value.hold();
      },
      moveBy: (share) => value.moveTo(valueAt(start + share, min, max, law)),
      end() {
        value.release();
        lock.stayOpen();
      },
    }),
  );
  const press = (event: KeyboardEvent) => {
    lock.stayOpen();
    if (!event.ctrlKey && !event.altKey && !event.metaKey && value.press(event.key)) event.preventDefault();
  };

  return (
    <>
      <p class="name truncate" title={label}>
        {label}
      </p>
      <div class="scaled">
        <div class="rail" ref={rail} classList={{ off: !isFree() || lock.isLocked() }} title={readOnly() || undefined}>
          <input
            ref={input}
            type="range"
            aria-label={label ?? address}
            aria-valuetext={`${showValue(shown(), digits)} ${unit}`.trim()}
            min={min}
            max={max}
            step="any"
            disabled={!isFree() || lock.isLocked()}
            onKeyDown={press}
            onInput={(event) => value.set(event.currentTarget.valueAsNumber)} // a screen reader moves it without keys
          />
          <span class="cap" ref={cap} aria-hidden="true" onPointerDown={() => input.focus({ preventScroll: true })} />
        </div>
        <Scale {...{ min, max, law }} isShown={scale} />
      </div>
      {lock.Lock()}
      <Amount value={shown()} digits={digits} unit={unit} />
      <Show when={readOnly()}>
        <small class="word">read-only</small>
      </Show>
      <WidgetFault address={address} parameter={parameter} values={props.values} failure={writes.failure()} />
    </>
  );
}

/** A fader that is unlocked locks again when it was not moved for this long. */
const unlockedMs = 15_000;

/** A fader with a question, a PIN or a time to hold is locked until the operator has answered. */
function createLock(guarding: Guarding, title: string) {
  const isGuarded = guarding.confirm !== undefined || guarding.pin !== undefined || guarding.hold !== undefined;
  const guard = createGuard(guarding, { title: `Unlock ${title}` });
  const [isLocked, setLocked] = createSignal(isGuarded);
  const locking = useDelay();
  const stayOpen = () => {
    if (isGuarded && !isLocked()) locking.start(unlockedMs, () => setLocked(true));
  };
  const unlock = () => {
    setLocked(false);
    stayOpen();
  };
  return {
    isLocked,
    stayOpen,
    Lock: () => (
      <Show when={isLocked()}>
        <HoldButton class="unlock" seconds={guarding.hold} act={() => guard.run(unlock)} label={`Unlock ${title}`}>
          Unlock
        </HoldButton>
        {guard.Dialog()}
      </Show>
    ),
  };
}

// Drags an element along an axis, relative to where the pointer grabbed it. A press alone moves nothing, and nothing jumps to the
// pointer.

/** A resting pointer moves less than this. */
const slopPx = { mouse: 3, touch: 8 };

interface DragOptions {
  /** Whether it can be dragged now. */
  readonly isFree: () => boolean;
  /** The distance from one end to the other in pixels. Negative: down increases the value; 0 if it cannot move. */
  readonly way: (axis: 'x' | 'y') => number;
  /** The drag starts. */
  readonly begin: () => void;
  /** The pointer has moved by this share of the distance since the start, -1..1 and beyond. */
  readonly moveBy: (share: number) => void;
  readonly end: () => void;
}

/** Makes an element draggable along the axis in its style, `--axis` x or y, for the lifetime of the calling scope. */
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
    if (!isFree()) return release(event);
    const moved = placeOf(event, held.axis) - held.from;
    const slop = event.pointerType === 'mouse' ? slopPx.mouse : slopPx.touch;
    if (!held.isMoving) {
      if (Math.abs(moved) < slop) return;
      held.isMoving = true;
      held.from += Math.sign(moved) * slop; // without this it would jump by the slop
      begin();
    }
    const length = way(held.axis);
    if (length !== 0) moveBy((placeOf(event, held.axis) - held.from) / length);
  };
  const release = (event: PointerEvent) => {
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
    handle.addEventListener(name, release, { signal });
  onCleanup(() => ends.abort());
}
