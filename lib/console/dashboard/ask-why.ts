// From a widget to why its parameter has its value: by the context menu of a mouse or a keyboard, or a finger that rests on it. A panel
// without its bar is a kiosk, and leads nowhere else.

import { onCleanup } from 'solid-js';
import { me } from '../hub/me.ts';
import { navigate, route } from '../page/route.ts';

/** The time for which a finger rests. Some browsers have no context menu for fingers. */
const restMs = 700;
const slopPx = 10;
const controls = 'button, input, select, textarea, a, .cap';

/** Returns the properties of the element of a widget; none without an address. */
export function useWhy(address: string | undefined, label: string | undefined) {
  if (address === undefined) return {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  let from = { x: 0, y: 0 };
  const stop = () => clearTimeout(timer);
  onCleanup(stop);
  const isOffered = () =>
    route().params.bare !== '1' && document.fullscreenElement === null && me()?.kiosk === undefined;
  const isControl = (event: Event) => (event.target as Element).closest(controls) !== null;
  const ask = () => isOffered() && navigate('why', { address });
  return {
    get tabIndex() {
      return isOffered() ? 0 : undefined;
    },
    role: 'group' as const,
    'aria-label': label ?? address,
    onContextMenu(event: MouseEvent) {
      const isText = (event.target as Element).closest('input, textarea, select') !== null; // they have a menu of their own
      const isFinger = (event as PointerEvent).pointerType === 'touch';
      if (!isOffered() || isText || event.defaultPrevented || (isFinger && isControl(event))) return;
      event.preventDefault();
      stop();
      ask();
    },
    onPointerDown(event: PointerEvent) {
      stop();
      if (event.pointerType !== 'touch' || isControl(event)) return;
      from = { x: event.clientX, y: event.clientY };
      timer = setTimeout(ask, restMs);
    },
    onPointerMove(event: PointerEvent) {
      if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > slopPx) stop();
    },
    onPointerUp: stop,
    onPointerCancel: stop,
  };
}
