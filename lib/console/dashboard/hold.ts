// A button that is held: true from when somebody presses it until they let go, by mouse, finger or key. It lets go by itself when the
// page is hidden or left, and as soon as the link is back when somebody let go without one: nothing stays on by itself.

import { type Accessor, createEffect, createSignal, on, onCleanup } from 'solid-js';
import { isStale } from '../hub.ts';
import { useDelay } from '../timers.ts';

/** Where the page scrolls, a finger holds a button only after it has rested this long: it may be about to scroll. */
const restMs = 250;
/** A finger that rests moves by less than this. */
const slopPx = 10;

type PointerEventOf = PointerEvent & { readonly currentTarget: HTMLElement };

export interface Hold {
  readonly isHeld: Accessor<boolean>;
  /** What the element of the button listens to. */
  readonly listeners: {
    onPointerDown(event: PointerEventOf): void;
    onPointerMove(event: PointerEvent): void;
    onPointerUp(): void;
    onPointerCancel(): void;
    onLostPointerCapture(): void;
    onKeyDown(event: KeyboardEvent): void;
    onKeyUp(): void;
    onBlur(): void;
  };
}

/** Writes true and false for the scope that calls it. */
export function createHold(write: (isHeld: boolean) => void): Hold {
  const [isHeld, setHeld] = createSignal(false);
  let owesRelease = false;
  const hold = () => {
    if (isHeld() || isStale()) return;
    setHeld(true);
    write(true);
  };
  const rest = createRest(hold);
  const release = () => {
    rest.stop();
    if (!isHeld()) return;
    setHeld(false);
    if (isStale()) owesRelease = true;
    else write(false);
  };
  createEffect(
    on(isStale, (stale) => {
      if (stale) release();
      else if (owesRelease) {
        owesRelease = false;
        write(false);
      }
    }),
  );
  const ends = new AbortController();
  addEventListener('blur', release, { signal: ends.signal });
  document.addEventListener('visibilitychange', release, { signal: ends.signal });
  onCleanup(() => {
    release();
    ends.abort();
  });
  const press = (event: PointerEventOf) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    if (event.pointerType === 'touch' && canScroll(event.currentTarget)) rest.begin(event);
    else hold();
  };
  const lift = () => {
    if (rest.isResting) hold(); // it did not rest long enough, but it did not scroll either
    release();
  };
  return {
    isHeld,
    listeners: {
      onPointerDown: press,
      onPointerMove: rest.move,
      onPointerUp: lift,
      onPointerCancel: release,
      onLostPointerCapture: release,
      onKeyDown: (event) => (event.key === ' ' || event.key === 'Enter') && hold(),
      onKeyUp: release,
      onBlur: release,
    },
  };
}

/**
 * A finger that may be about to scroll; `rested` hears that it is not. That is known in a frame, before which the browser tells
 * all moves so far: a page that is busy for a while takes no scroll for a rest.
 */
function createRest(rested: () => void) {
  const delay = useDelay();
  let frame = 0;
  let from: { readonly x: number; readonly y: number } | undefined;
  const stop = () => {
    delay.stop();
    cancelAnimationFrame(frame);
    from = undefined;
  };
  const end = () => {
    from = undefined;
    rested();
  };
  return {
    get isResting() {
      return from !== undefined;
    },
    begin({ clientX: x, clientY: y }: PointerEvent) {
      from = { x, y };
      delay.start(restMs, () => {
        frame = requestAnimationFrame(end);
      });
    },
    move({ clientX, clientY }: PointerEvent) {
      if (from && Math.hypot(clientX - from.x, clientY - from.y) > slopPx) stop();
    },
    stop,
  };
}

function canScroll(element: HTMLElement): boolean {
  const page = element.closest('.panel-page');
  return page !== null && page.scrollHeight > page.clientHeight;
}
