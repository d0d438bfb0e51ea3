// Leads from a widget to the reason for its parameter's value: by the context menu of a mouse or keyboard, or by a long press with a
// finger. A panel without its bar is a kiosk, from which there are no links.

import { onCleanup } from 'solid-js';
import { me } from '../hub/me.ts';
import { navigate, route } from '../page/route.ts';

/** The duration of a long press, in milliseconds. Some browsers have no context menu for touch input. */
const restMs = 700;
const slopPx = 10;
const controls = 'button, input, select, textarea, a, .cap';

/** Returns the properties with which a widget's element can open the view `why`, or no properties if the widget has no address. */
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
      const isText = (event.target as Element).closest('input, textarea, select') !== null; // fields have their own context menu
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
