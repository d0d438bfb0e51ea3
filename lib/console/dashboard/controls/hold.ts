// A button that is held from press to release, by mouse, finger or key. The button is released when its page is hidden or left, and when
// the button can no longer be used, so that nothing stays pressed unattended.

import { type Accessor, createEffect, createSignal, on, onCleanup } from 'solid-js';
import { useDelay } from '../../page/page-timers.ts';

/** How long a finger has to rest before it presses a button on a scrolling page, in milliseconds. The finger may be about to scroll. */
const restMs = 250;
/** The distance below which a finger counts as resting, in pixels. */
const slopPx = 10;
/** The bit of the primary button in `buttons`. */
const primaryButton = 1;

type PointerEventOf = PointerEvent & { readonly currentTarget: HTMLElement };

export interface Hold {
  readonly isHeld: Accessor<boolean>;
  /** The event listeners to attach to the button element. */
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
  /** Whether the button can be pressed. As soon as the button can no longer be pressed, a held button is released. */
  readonly isFree: Accessor<boolean>;
  /** Called when the user presses the button. If the returned promise rejects, the button is no longer held. */
  readonly press: () => Promise<void>;
  /** Called once after each call of `press`, when the button is released. */
  readonly release: () => void;
}

/** Follows presses of the button until the calling reactive scope is disposed. */
export function createHold(options: HoldOptions): Hold {
  const [isHeld, setHeld] = createSignal(false);
  /** The id of the pointer that holds the button; undefined if a key holds it. */
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
    // Releasing one mouse button while another is down is reported as a move.
    if (event.pointerId === pointer && (event.buttons & primaryButton) === 0) release();
  };
  const lift = () => {
    if (rest.isResting) hold(); // too short for a rest, but the finger did not scroll either: a tap
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
 * Watches a finger that may be about to scroll, and calls `rested` if the finger does not scroll. The decision is made in an animation
 * frame, before which the browser delivers all pending moves, so that a busy page does not mistake a scroll for a rest.
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
