// A fader as on a mixing desk: dragging moves the fader's cap from its current position. Neither a press on the cap or the track nor
// scrolling the page moves the cap.

import { createEffect, createSignal, onCleanup, onMount, Show } from 'solid-js';
import { t } from '../../language/language.ts';
import { observeSize, type Size } from '../../page/media.ts';
import { useDelay } from '../../page/page-timers.ts';
import { Scale } from '../readings/readings.tsx';
import { shareOf, showValue, valueAt } from '../showing.ts';
import { Amount, isLyingShape, useWrites, WidgetFault, WidgetName, type WidgetProps } from '../widget.tsx';
import { createFaderValue } from './fader-value.ts';
import { createGuard, type Guarding, HoldButton } from './guard.tsx';

/** How often screen readers announce a value that changes on its own, in milliseconds. */
const announceMs = 1000;

export function FaderWidget(props: WidgetProps<'fader'>) {
  const { address, label, min, max, unit, digits, law, scale } = props.widget;
  const parameter = props.values.of(address);
  const writes = useWrites(address);
  const value = createFaderValue(props.widget, parameter, writes);
  const { shown, readable, isOwn, place, readOnly, isFree } = value;
  const lock = createLock(props.widget, label ?? address);
  let rail!: HTMLDivElement;
  let cap!: HTMLSpanElement;
  let input!: HTMLInputElement;
  let start = 0;
  const [railSize, setRailSize] = createSignal<Size>({ width: 0, height: 0 });
  const [capSize, setCapSize] = createSignal<Size>({ width: 0, height: 0 });
  const isLying = () => isLyingShape(railSize());
  /** The position of the cap. Only its transform changes with the value, because this requires no layout. */
  const position = () => {
    const side = isLying() ? 'width' : 'height';
    const px = shareOf(shown(), min, max, law) * (railSize()[side] - capSize()[side]);
    return isLying() ? `translateX(${px.toFixed(1)}px)` : `translateY(${(-px).toFixed(1)}px)`;
  };
  const [announced, setAnnounced] = createSignal('');
  const announcing = useDelay();
  let isWaiting = false;
  let announcedMs = 0;
  const announce = () => {
    isWaiting = false;
    announcedMs = performance.now();
    input.value = String(place());
    setAnnounced(`${showValue(shown(), digits)} ${unit}`.trim());
  };
  createEffect(() => {
    shown();
    if (isOwn()) return announce();
    if (isWaiting) return;
    isWaiting = true;
    announcing.start(Math.max(0, announcedMs + announceMs - performance.now()), announce);
  });
  onMount(() => {
    observeSize(rail, setRailSize);
    observeSize(cap, setCapSize);
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
    });
  });
  const press = (event: KeyboardEvent) => {
    lock.stayOpen();
    if (!event.ctrlKey && !event.altKey && !event.metaKey && value.press(event.key)) event.preventDefault();
  };

  return (
    <>
      <WidgetName label={label} address={address} />
      <div class="scaled">
        <div
          class="rail"
          ref={rail}
          classList={{ off: !isFree() || lock.isLocked(), lying: isLying() }}
          title={readOnly() || undefined}
        >
          <input
            ref={input}
            type="range"
            aria-label={label ?? address}
            aria-valuetext={announced()}
            min={min}
            max={max}
            step="any"
            disabled={!isFree() || lock.isLocked()}
            onKeyDown={press}
            onInput={(event) => value.set(event.currentTarget.valueAsNumber)} // a screen reader moves the fader without keys
          />
          <span
            class="cap"
            ref={cap}
            style={{ transform: position() }}
            aria-hidden="true"
            onPointerDown={() => input.focus({ preventScroll: true })}
          />
        </div>
        <Scale {...{ min, max, law }} isShown={scale} />
      </div>
      {lock.Lock()}
      <Amount value={readable()} {...{ digits, unit }} range={[min, max]} type={parameter.kind()?.type} />
      <Show when={readOnly()}>
        <small class="word">{t('read-only')}</small>
      </Show>
      <WidgetFault address={address} parameter={parameter} values={props.values} failure={writes.failure()} />
    </>
  );
}

/** The time after which an unlocked fader that was not moved locks again, in milliseconds. */
const unlockedMs = 15_000;

/** Creates the lock of a fader: a fader with a question, a PIN or a hold time is locked until the operator has responded. */
function createLock(guarding: Guarding, title: string) {
  const isGuarded = guarding.confirm !== undefined || guarding.pin !== undefined || guarding.hold !== undefined;
  const guard = createGuard(guarding, { title: t('Unlock {1}', title) });
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
        <HoldButton class="unlock" seconds={guarding.hold} act={() => guard.run(unlock)} label={t('Unlock {1}', title)}>
          {t('Unlock')}
        </HoldButton>
        {guard.Dialog()}
      </Show>
    ),
  };
}

// Drags an element along an axis, relative to the point at which the pointer grabbed the element. A press alone moves nothing, and nothing
// jumps to the pointer.

/** The distance below which a pointer counts as resting, in pixels, by kind of pointer. */
const slopPx = { mouse: 3, touch: 8 };

interface DragOptions {
  /** Returns whether the element can currently be dragged. */
  readonly isFree: () => boolean;
  /**
   * Returns the distance from one end of the axis to the other, in pixels. A negative distance means that moving down increases the value;
   * 0 means that the element cannot move.
   */
  readonly way: (axis: 'x' | 'y') => number;
  /** Called when the drag starts. */
  readonly begin: () => void;
  /** Called when the pointer has moved. `share` is the movement since the start as a fraction of the distance, -1..1 and beyond. */
  readonly moveBy: (share: number) => void;
  readonly end: () => void;
}

/** Makes an element draggable along the axis `--axis` in its style, x or y, until the calling reactive scope is disposed. */
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
      held.from += Math.sign(moved) * slop; // without this offset, the element would jump by the slop
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
