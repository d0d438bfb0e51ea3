// The plot of a number or a boolean over the last minutes. It moves with the clock.

import { createEffect, createSignal, For, on, onCleanup, onMount } from 'solid-js';
import uPlot from 'uplot';
import { isDark } from '../theme.ts';
import { useInterval } from '../timers.ts';
import { record } from './recordings.ts';

const intervalMs = 200;
const height = 200;
const spansMin = [1, 2, 5] as const;

export default function Plot(props: { readonly address: string; readonly isBoolean: boolean }) {
  let box!: HTMLDivElement;
  let plot: uPlot | undefined;
  const [spanMin, setSpanMin] = createSignal<number>(1);
  const draw = () => {
    const now = Date.now();
    const from = now - spanMin() * 60_000;
    const { times, values } = record(props.address).since(from);
    plot?.setData([times.map((time) => time / 1000), values], false);
    plot?.setScale('x', { min: from / 1000, max: now / 1000 });
  };
  const create = () => {
    plot?.destroy();
    plot = new uPlot(optionsOf(box, props.isBoolean), [[], []], box);
    draw();
  };
  onMount(() => {
    createEffect(on([() => props.address, () => props.isBoolean, isDark], create));
    createEffect(on(spanMin, draw, { defer: true }));
    useInterval(() => !document.hidden && draw(), intervalMs);
    const observer = new ResizeObserver(() => plot?.setSize({ width: box.clientWidth, height }));
    observer.observe(box);
    onCleanup(() => {
      observer.disconnect();
      plot?.destroy();
    });
  });
  return (
    <figure class="plot" aria-label={`Values of ${props.address} over the last minutes`}>
      <div ref={box} />
      <figcaption>
        <For each={spansMin}>
          {(minutes) => (
            <button type="button" aria-pressed={spanMin() === minutes} onClick={() => setSpanMin(minutes)}>
              {minutes} min
            </button>
          )}
        </For>
      </figcaption>
    </figure>
  );
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

function optionsOf(box: HTMLElement, isBoolean: boolean): uPlot.Options {
  const style = getComputedStyle(box);
  const line = style.getPropertyValue('outline-color');
  const ink = style.color;
  const grid = { stroke: style.borderTopColor, width: 1 };
  const axis = { stroke: ink, grid, ticks: grid, font: '11px system-ui' };
  return {
    width: box.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: { time: true }, y: isBoolean ? { range: [-0.1, 1.1] } : { range: padded } },
    axes: [
      { ...axis, values: (_, splits) => splits.map((time) => clock.format(time * 1000)) },
      { ...axis, size: 56, ...(isBoolean && { splits: () => [0, 1], values: () => ['false', 'true'] }) },
    ],
    series: [{}, { stroke: line, width: 1.5, points: { show: false }, paths: uPlot.paths.stepped!({ align: 1 }) }],
  };
}

/** Leaves a little room above and below, also for a value that does not move. */
function padded(_: uPlot, low: number, high: number): [number, number] {
  if (low === null || high === null) return [0, 1];
  const room = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}
