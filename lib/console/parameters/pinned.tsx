// The pinned parameters above the list: their values now and over the last minutes.
import { createSignal, For, Show } from 'solid-js';
import { useInterval } from '../page/page-timers.ts';
import { formatValue } from '../page/units.ts';
import { Guarded } from '../parts/guarded.tsx';
import { StaleMark } from '../parts/state-mark.tsx';
import { useLiveRows } from './list/live-window.ts';
import { pins, record } from './recordings.ts';

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

// A line the size of a word: the values of a number or a boolean over the last minute.

const spanMs = 60_000;
const intervalMs = 500;
const width = 120;
const height = 22;

function Sparkline(props: { readonly address: string }) {
  const [path, setPath] = createSignal('');
  const draw = () => setPath(pathOf(props.address));
  draw();
  useInterval(draw, intervalMs);
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      <path d={path()} />
    </svg>
  );
}

/** Draws steps: a value holds until the next, or until it is unknown or stale. */
function pathOf(address: string): string {
  const now = Date.now();
  const { times, values } = record(address).since(now - spanMs);
  const known = values.filter((value) => value !== null);
  const low = Math.min(...known);
  const range = Math.max(...known) - low || 1;
  let path = '';
  let isDown = false;
  for (const [index, time] of times.entries()) {
    const value = values[index]!;
    const x = Math.max(0, width - ((now - time) / spanMs) * width).toFixed(1);
    if (value === null) {
      if (isDown) path += `H${x}`;
      isDown = false;
      continue;
    }
    const y = (height - 2 - ((value - low) / range) * (height - 4)).toFixed(1);
    path += isDown ? `H${x}V${y}` : `M${x} ${y}`;
    isDown = true;
  }
  return path;
}
