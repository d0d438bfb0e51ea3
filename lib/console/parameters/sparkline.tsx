// A line the size of a word: the values of a number or a boolean over the last minute.

import { createSignal } from 'solid-js';
import { useInterval } from '../page/timers.ts';
import { record } from './recordings.ts';

const spanMs = 60_000;
const intervalMs = 500;
const width = 120;
const height = 22;

export function Sparkline(props: { readonly address: string }) {
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
