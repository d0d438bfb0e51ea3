// A fader as on a desk: a hand moves its cap from where it is. A press on the cap or on the track does not move it, and neither
// does a hand that scrolls the page. While a hand moves it, it shows what the hand says. It follows the hub again once the last
// write has got there.

import { createEffect, createSignal, on, onMount } from 'solid-js';
import { isStale } from '../hub.ts';
import { useDelay } from '../timers.ts';
import { createDrag } from './drag.ts';
import { shareOf, showValue } from './showing.ts';
import { Trouble, useWrites, type WidgetProps } from './widget.tsx';
import { createWriter } from './writer.ts';

/** A write leads to values that take this long to come back. The fader waits for them. */
const settleMs = 300;
/** How many steps it has, unless the widget says how long one is, and how often one presses Page Up from end to end. */
const steps = 100;
const pages = 10;
const digits = 12;

export function FaderWidget(props: WidgetProps<'fader'>) {
  const { address, label, min, max, step = (max - min) / steps, unit, digits: shownDigits } = props.widget;
  const parameter = props.values.of(address);
  const { send, fail, failure } = useWrites(address);
  /** What the hand says; undefined: it follows the hub. */
  const [own, setOwn] = createSignal<number>();
  let isHeld = false;
  const settling = useDelay();

  const letGo = () => {
    settling.start(settleMs, () => !isHeld && !writer.isBusy && setOwn(undefined));
  };
  const writer = createWriter({
    send,
    settled(error) {
      if (error !== undefined) fail(error);
      letGo();
    },
  });
  const shown = () => own() ?? parameter.value();
  const place = () => clamp(Number(shown() ?? min));
  const clamp = (value: number) => Math.min(max, Math.max(min, value || 0));
  const snap = (value: number) => clamp(Number((min + Math.round((value - min) / step) * step).toPrecision(digits)));
  const isFree = () => !isStale() && parameter.kind() !== undefined && parameter.kind()!.access !== 'read-only';
  const moveTo = (value: number) => {
    if (!isFree() || value === own()) return;
    setOwn(value);
    writer.write(value);
  };
  const press = (event: KeyboardEvent) => {
    const page = Math.max(step, (max - min) / pages);
    const to: Readonly<Record<string, number>> = {
      ArrowUp: place() + step,
      ArrowRight: place() + step,
      ArrowDown: place() - step,
      ArrowLeft: place() - step,
      PageUp: place() + page,
      PageDown: place() - page,
      Home: min,
      End: max,
    };
    const next = to[event.key];
    if (next === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    moveTo(snap(next));
    letGo();
  };

  let rail!: HTMLDivElement;
  let cap!: HTMLSpanElement;
  let input!: HTMLInputElement;
  let start = min;
  createEffect(() => {
    input.value = String(place());
    rail.style.setProperty('--share', String(shareOf(shown(), min, max)));
  });
  createEffect(on(isStale, (stale) => stale && setOwn(undefined), { defer: true }));
  onMount(() =>
    createDrag(cap, {
      isFree,
      way: (axis) => (axis === 'x' ? rail.clientWidth - cap.clientWidth : cap.clientHeight - rail.clientHeight),
      begin() {
        isHeld = true;
        start = place();
        setOwn(start);
      },
      moveBy: (share) => moveTo(snap(start + share * (max - min))),
      end() {
        isHeld = false;
        letGo();
      },
    }),
  );

  return (
    <>
      <p class="name truncate">{label}</p>
      <div class="rail" ref={rail} classList={{ off: !isFree() }}>
        <input
          ref={input}
          type="range"
          aria-label={label ?? address}
          aria-valuetext={`${showValue(shown(), shownDigits)} ${unit}`.trim()}
          min={min}
          max={max}
          step="any"
          disabled={!isFree()}
          onKeyDown={press}
          onInput={(event) => {
            moveTo(snap(event.currentTarget.valueAsNumber)); // a screen reader moved it, which presses no key
            letGo();
          }}
        />
        <span class="cap" ref={cap} aria-hidden="true" onPointerDown={() => input.focus({ preventScroll: true })} />
      </div>
      <output class="amount">
        {showValue(shown(), shownDigits)} {unit}
      </output>
      <Trouble parameter={parameter} values={props.values} failure={failure()} />
    </>
  );
}
