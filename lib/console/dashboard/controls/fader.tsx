// A fader as on a desk: a hand moves its cap from where it is. A press on the cap or on the track does not move it, and neither
// does a hand that scrolls the page.

import { createEffect, onMount, Show } from 'solid-js';
import { shareOf, showValue } from '../showing.ts';
import { Amount, Trouble, useWrites, type WidgetProps } from '../widget.tsx';
import { createDrag } from './drag.ts';
import { createFaderValue } from './fader-value.ts';

export function FaderWidget(props: WidgetProps<'fader'>) {
  const { address, label, min, max, unit, digits } = props.widget;
  const parameter = props.values.of(address);
  const writes = useWrites(address);
  const value = createFaderValue(props.widget, parameter, writes);
  const { shown, place, readOnly, isFree } = value;
  let rail!: HTMLDivElement;
  let cap!: HTMLSpanElement;
  let input!: HTMLInputElement;
  let start = min;
  createEffect(() => {
    input.value = String(place());
    rail.style.setProperty('--share', String(shareOf(shown(), min, max)));
  });
  onMount(() =>
    createDrag(cap, {
      isFree,
      way: (axis) => (axis === 'x' ? rail.clientWidth - cap.clientWidth : cap.clientHeight - rail.clientHeight),
      begin() {
        start = place();
        value.hold();
      },
      moveBy: (share) => value.moveTo(start + share * (max - min)),
      end: value.letGo,
    }),
  );
  const press = (event: KeyboardEvent) => {
    if (!event.ctrlKey && !event.altKey && !event.metaKey && value.press(event.key)) event.preventDefault();
  };

  return (
    <>
      <p class="name truncate" title={label}>
        {label}
      </p>
      <div class="rail" ref={rail} classList={{ off: !isFree() }} title={readOnly() || undefined}>
        <input
          ref={input}
          type="range"
          aria-label={label ?? address}
          aria-valuetext={`${showValue(shown(), digits)} ${unit}`.trim()}
          min={min}
          max={max}
          step="any"
          disabled={!isFree()}
          onKeyDown={press}
          onInput={(event) => value.set(event.currentTarget.valueAsNumber)} // a screen reader moved it, which presses no key
        />
        <span class="cap" ref={cap} aria-hidden="true" onPointerDown={() => input.focus({ preventScroll: true })} />
      </div>
      <Amount value={shown()} digits={digits} unit={unit} />
      <Show when={readOnly()}>
        <small class="word">read-only</small>
      </Show>
      <Trouble address={address} parameter={parameter} values={props.values} failure={writes.failure()} />
    </>
  );
}
