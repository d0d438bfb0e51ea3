// A button that is held: from when somebody presses it until they let go, by mouse, finger or key. It lets go by itself when its page is
// hidden or left, and when it cannot be used any more: nothing is held by itself.

import { type Accessor, createEffect, createSignal, on, onCleanup } from 'solid-js';
import { useDelay } from '../../page/page-timers.ts';

/** Where the page scrolls, a finger holds a button only after it has rested this long: it may be about to scroll. */
const restMs = 250;
/** A finger that rests moves by less than this. */
const slopPx = 10;
/** Its bit in `buttons`. */
const primaryButton = 1;

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

interface HoldOptions {
  /** Whether one can press it. Who holds it when that ends lets go. */
  readonly isFree: Accessor<boolean>;
  /** Somebody presses it. When this rejects, the button is held no longer. */
  readonly press: () => Promise<void>;
  /** Once after each `press`. */
  readonly release: () => void;
}

/** Works for the scope that calls it. */
export function createHold(options: HoldOptions): Hold {
  const [isHeld, setHeld] = createSignal(false);
  /** Of the mouse or finger that holds it; undefined: a key does. */
  let pointer: number | undefined;
  let presses = 0;
  const hold = (by?: number) => {
    if (isHeld() || !options.isFree()) return;
    setHeld(true);
    pointer = by;
    const own = ++presses;
    options.press().catch(() => own === presses && release());
  };
  const rest = createRest(hold);
  const release = () => {
    rest.stop();
    if (!isHeld()) return;
    setHeld(false);
    options.release();
  };
  createEffect(on(options.isFree, (isFree) => isFree || release()));
  const ends = new AbortController();
  for (const event of ['blur', 'pagehide']) addEventListener(event, release, { signal: ends.signal });
  document.addEventListener('visibilitychange', release, { signal: ends.signal });
  onCleanup(() => {
    release();
    ends.abort();
  });
  const press = (event: PointerEventOf) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    if (event.pointerType === 'touch' && canScroll(event.currentTarget)) rest.begin(event);
    else hold(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    rest.move(event);
    // A hand that lets go of one mouse button while it holds another one is told as a move.
    if (event.pointerId === pointer && (event.buttons & primaryButton) === 0) release();
  };
  const lift = () => {
    if (rest.isResting) hold(); // it did not rest long enough, but it did not scroll either
    release();
  };
  return {
    isHeld,
    listeners: {
      onPointerDown: press,
      onPointerMove: move,
      onPointerUp: lift,
      onPointerCancel: release,
      onLostPointerCapture: release,
      onKeyDown: (event) => (event.key === ' ' || event.key === 'Enter') && !event.repeat && hold(),
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
