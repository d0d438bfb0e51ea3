// Keeps the screen of a panel on, where the browser can (Screen Wake Lock, W3C): also after the page was hidden meanwhile.

import { onCleanup } from 'solid-js';

/** Works for as long as the scope that calls it lives. A browser that does not, or may not, leaves all as it is. */
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
