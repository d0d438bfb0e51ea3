// A plot of up to four parameters that moves with the clock. The plot starts with the history from the store, and then takes samples,
// except while a value is unknown or stale, or the page is hidden.

import { createEffect, For, on, onCleanup, onMount, Show } from 'solid-js';
import uPlot from 'uplot';
import type { WidgetOf } from '../../../dashboard/format.ts';
import { lastPartOf } from '../../../model/address.ts';
import type { LiveParameter } from '../../hub/live-cells.ts';
import { isStale } from '../../hub/page-hub.ts';
import { locale } from '../../language/language.ts';
import { leastLetters, letterScale } from '../../page/media.ts';
import { useInterval } from '../../page/page-timers.ts';
import { colourOf, isDark } from '../../page/theme.ts';
import { showValue } from '../showing.ts';
import { Amount, WidgetFault, type WidgetProps } from '../widget.tsx';
import { askPast, createSamples } from './samples.ts';

/** The number of samples that a plot holds and draws: ten per second for one minute. */
const samples = 600;
const leastIntervalMs = 100;
const leastAxisPx = 44;
const besideNumbersPx = 18;
const letterPx = 7;
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
const colours = ['--accent', '--warn', '--good', '--bad'];

export default function Plot(props: WidgetProps<'plot'>) {
  const { addresses, label, seconds, unit, digits } = props.widget;
  const parameters = addresses.map((address) => props.values.of(address));
  const intervalMs = Math.max(leastIntervalMs, (seconds * 1000) / samples);
  const { times, rows, take, putBefore } = createSamples(addresses.length, samples + 1, intervalMs / 1000);
  let box!: HTMLDivElement;
  let plot: uPlot | undefined;

  const sample = () => {
    if (document.hidden) return; // values are not updated then
    const now = Date.now() / 1000;
    take(
      now,
      parameters.map((one) => (isStale() || one.staleSince() !== undefined ? null : numberOf(one))),
    );
    plot?.setData([times, ...rows], false);
    plot?.setScale('x', { min: now - seconds, max: now });
  };
  const showPast = async () => putBefore(await askPast(addresses, seconds, samples));
  const create = () => {
    plot?.destroy();
    plot = new uPlot(optionsOf(box, props.widget), [times, ...rows], box);
  };
  onMount(() => {
    createEffect(on(isDark, create));
    void showPast();
    useInterval(sample, intervalMs);
    const observer = new ResizeObserver(() => plot?.setSize({ width: box.clientWidth, height: box.clientHeight }));
    observer.observe(box);
    onCleanup(() => {
      observer.disconnect();
      plot?.destroy();
    });
  });

  return (
    <>
      <div class="name">
        <Show when={label}>
          <span class="truncate" title={label}>
            {label}
          </span>
        </Show>
        <For each={addresses}>
          {(address, index) => (
            <span class="line-of" style={{ color: `var(${colours[index()]})` }}>
              <Show when={addresses.length > 1}>
                <span class="truncate" title={address}>
                  — {parameters[index()]!.about()?.label ?? lastPartOf(address)}
                </span>
              </Show>
              <Amount value={parameters[index()]!.readable()} digits={digits} unit={unit} />
            </span>
          )}
        </For>
      </div>
      <div class="drawing" ref={box} aria-hidden="true" />
      <For each={parameters}>
        {(parameter, index) => (
          <WidgetFault address={addresses[index()]!} parameter={parameter} values={props.values} />
        )}
      </For>
    </>
  );
}

/** Returns uPlot options with the current colours of the element. */
function optionsOf(box: HTMLElement, { addresses, min, max, digits }: WidgetOf<'plot'>): uPlot.Options {
  const scale = letterScale();
  const grid = { stroke: colourOf(box, '--line'), width: 1 };
  const axis = {
    stroke: colourOf(box, '--muted'),
    grid,
    ticks: grid,
    font: `${Math.ceil(leastLetters())}px system-ui`,
  };
  return {
    width: box.clientWidth,
    height: box.clientHeight,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: true },
      y: { range: (_, low, high) => rangeOf(low, high, min, max) },
    },
    axes: [
      {
        ...axis,
        size: 26 * scale,
        space: 80 * scale,
        values: (_, splits) => splits.map((split) => clock.format(split * 1000)),
      },
      {
        ...axis,
        size: widthOf,
        space: 30 * scale,
        values: (_, splits) => splits.map((split) => showValue(split, digits)),
      },
    ],
    series: [
      {},
      ...addresses.map((_, index) => ({
        stroke: colourOf(box, colours[index]!),
        width: 2,
        points: { show: false },
      })),
    ],
  };
}

/** Returns the width of an axis in pixels, which is the width of its longest number. */
function widthOf(_: uPlot, numbers: readonly string[] | null): number {
  const letters = Math.max(0, ...(numbers ?? []).map(({ length }) => length));
  return letterScale() * Math.max(leastAxisPx, besideNumbersPx + letters * letterPx);
}

/**
 * Returns the value range of a plot: the widget's range, or a range that fits the values. Space is added above and below a constant value.
 */
function rangeOf(low: number | null, high: number | null, min?: number, max?: number): [number, number] {
  const from = min ?? low ?? 0;
  const to = max ?? high ?? from + 1;
  if (to > from) return [from, to];
  const room = Math.abs(from) / 10 || 1;
  return [min ?? from - room, max ?? from + room];
}

function numberOf({ value }: LiveParameter): number | null {
  const number = value() === undefined ? Number.NaN : Number(value());
  return Number.isFinite(number) ? number : null;
}
