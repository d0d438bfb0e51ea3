// Says while the link to the hub is down that all values may be old, and when the console tries again.

import { createEffect, createSignal, Show } from 'solid-js';
import { isStale, linkState } from '../hub/page-hub.ts';
import { useInterval } from '../page/page-timers.ts';

export function LinkBanner() {
  const [now, setNow] = createSignal(Date.now());
  createEffect(() => {
    if (!isStale()) return;
    useInterval(() => setNow(Date.now()), 250);
  });
  const progress = () => {
    const state = linkState();
    if (state.name === 'closed') return `The link is closed: ${state.reason}.`;
    if (state.name !== 'waiting') return 'Connecting …';
    return `Next try in ${Math.max(0, Math.ceil((state.retryAt - now()) / 1000))} s.`;
  };
  return (
    <div role="status">
      <Show when={isStale()}>
        <p class="banner">
          <strong>No link to the hub.</strong> What is shown may be old. <span aria-hidden="true">{progress()}</span>
        </p>
      </Show>
    </div>
  );
}
