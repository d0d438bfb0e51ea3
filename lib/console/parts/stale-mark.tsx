// Marks a value that may be old, in words: there is no news of it from the hub that owns it.

import { type Accessor, Show } from 'solid-js';
import { formatDate, formatSince, useNow } from '../page/units.ts';

export function StaleMark(props: { readonly since: Accessor<number | undefined> }) {
  return (
    <Show when={props.since()}>
      {(since) => (
        <span
          class="stale-mark"
          title={`No news of it since ${formatDate(since())} from the hub that owns it: the value may be old`}
        >
          stale
          <Since time={since()} />
        </span>
      )}
    </Show>
  );
}

/** ` since 14:03:07`, with the day once that is another one. */
export function Since(props: { readonly time: number }) {
  const now = useNow();
  return <span class="since"> since {formatSince(props.time, now())}</span>;
}
