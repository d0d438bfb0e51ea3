// A gauge: an arc of 270 degrees with zones, filled up to the value. Only one attribute of one line changes with the value.

import { For } from 'solid-js';
import { shareOf, showValue, toneAt } from '../showing.ts';
import { Amount, WidgetFault, WidgetName, type WidgetProps } from '../widget.tsx';

const radius = 40;
const sweep = 270;

export function Gauge(props: WidgetProps<'gauge'>) {
  const { address, label, min, max, unit, digits, zones } = props.widget;
  const parameter = props.values.of(address);
  const share = () => shareOf(parameter.value(), min, max);
  const sorted = [...zones].sort((one, other) => one.from - other.from);
  const bands = sorted.map(({ from, tone }, index) => {
    const [start, end] = [shareOf(from, min, max), shareOf(sorted[index + 1]?.from ?? max, min, max)];
    return {
      tone,
      path: `M ${pointAt(start, 47)} A 47 47 0 ${(end - start) * sweep > 180 ? 1 : 0} 1 ${pointAt(end, 47)}`,
    };
  });
  return (
    <>
      <WidgetName label={label} address={address} />
      <svg class="dial" viewBox="0 2 100 88" aria-hidden="true">
        <path class="groove" d={arcTo(1)} />
        <path
          class="filled"
          d={arcTo(share())}
          data-tone={props.tone?.() ?? toneAt(zones, parameter.value()) ?? 'info'}
          visibility={parameter.value() === undefined || share() === 0 ? 'hidden' : undefined}
        />
        <For each={bands}>{({ tone, path }) => <path class="band" d={path} data-tone={tone} />}</For>
      </svg>
      <Amount value={parameter.readable()} {...{ digits, unit }} range={[min, max]} type={parameter.kind()?.type} />
      <p class="extent">
        <span>{showValue(min)}</span>
        <span>{showValue(max)}</span>
      </p>
      <WidgetFault address={address} parameter={parameter} values={props.values} />
    </>
  );
}

/** Returns the arc from the lower left end, clockwise, rounded to the nearest degree, because smaller steps would not be visible. */
function arcTo(share: number): string {
  const degrees = Math.round(share * sweep);
  return `M ${pointAt(0, radius)} A ${radius} ${radius} 0 ${degrees > 180 ? 1 : 0} 1 ${pointAt(degrees / sweep, radius)}`;
}

function pointAt(share: number, distance: number): string {
  const angle = ((135 + share * sweep) * Math.PI) / 180;
  return `${(50 + distance * Math.cos(angle)).toFixed(2)} ${(50 + distance * Math.sin(angle)).toFixed(2)}`;
}
