// Keeps the screen of a panel on where the browser can (Screen Wake Lock, W3C): with HTTPS, or from the same machine. It does so also
// after the page was hidden and seen again.

import { onCleanup } from 'solid-js';

/** Works as long as the scope that calls it. In a browser that cannot, or may not, it does nothing. */
export function keepAwake(): void {
  if (!('wakeLock' in navigator)) return;
  let lock: WakeLockSentinel | undefined;
  let isOver = false;
  const ask = async () => {
    if (document.hidden || isOver) return;
    lock = await navigator.wakeLock.request('screen').catch(() => undefined);
    if (isOver) void lock?.release();
  };
  document.addEventListener('visibilitychange', ask);
  void ask();
  onCleanup(() => {
    isOver = true;
    document.removeEventListener('visibilitychange', ask);
    void lock?.release();
  });
}
