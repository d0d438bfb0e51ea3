// The pinned parameters above the list: their values now and over the last minutes.

import { For, Show } from 'solid-js';
import { formatValue } from '../page/units.ts';
import { Guarded } from '../parts/guarded.tsx';
import { StaleMark } from '../parts/stale-mark.tsx';
import { useLiveRows } from './list/live-window.ts';
import { pins } from './recordings.ts';
import { Sparkline } from './sparkline.tsx';

export function Pinned(props: { readonly onOpen: (address: string) => void }) {
  const find = useLiveRows(pins, { settleMs: 0 });
  return (
    <Show when={pins().length > 0}>
      <section class="pins" aria-label="Pinned">
        <For each={pins()}>
          {(address) => (
            <Guarded changed={() => find(address)?.value()}>
              <button type="button" class="pin" onClick={() => props.onOpen(address)}>
                <span class="truncate" title={address}>
                  {address}
                </span>
                <strong class="mono live">{formatValue(find(address)?.value())}</strong>
                <StaleMark since={() => find(address)?.staleSince()} />
                <Sparkline address={address} />
              </button>
            </Guarded>
          )}
        </For>
      </section>
    </Show>
  );
}
