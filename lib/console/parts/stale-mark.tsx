// Marks a value that may be old, in words: nothing is heard of the hub that owns it.

import { type Accessor, Show } from 'solid-js';
import { formatClock } from '../units.ts';

/** Why a control refuses to write. */
export function staleReason(since: number): string {
  return `not written: nothing has been heard since ${formatClock(since)} of the hub that owns it`;
}

export function StaleMark(props: { readonly since: Accessor<number | undefined> }) {
  return (
    <Show when={props.since()}>
      {(since) => (
        <span class="stale-mark" title="Nothing is heard of the hub that owns it: the value may be old">
          stale since {formatClock(since())}
        </span>
      )}
    </Show>
  );
}
