// The read-only widgets: label, value, lamp, meter.

import { createEffect, createMemo, createSignal, For, on, onMount, Show, untrack } from 'solid-js';
import type { Value } from '../../../client/index.ts';
import type { LiveParameter } from '../../hub/live-cells.ts';
import { t } from '../../language/language.ts';
import { observeSize, type Size } from '../../page/media.ts';
import { useDelay } from '../../page/page-timers.ts';
import { beginningOf } from '../../page/units.ts';
import { type Law, markShare, marksOf, shareOf, showValue, toneAt } from '../showing.ts';
import { Amount, createLit, isLyingShape, WidgetFault, WidgetName, type WidgetProps } from '../widget.tsx';
import { FitText } from './fit-text.tsx';

export function Label(props: WidgetProps<'label'>) {
  return <FitText text={props.widget.label} tone={props.tone?.() ?? props.widget.tone} />;
}

export function Reading(props: WidgetProps<'value'>) {
  const { address, label, texts, unit, digits, zones } = props.widget;
  const parameter = props.values.of(address);
  const text = createMemo(() => {
    const value = parameter.readable();
    const plain = String(value);
    return beginningOf(Object.hasOwn(texts, plain) ? texts[plain]! : showValue(value, digits));
  });
  const isBusy = createBusy(parameter.readable);
  const others = Object.values(texts);
  let widest = '';
  /** The strings that the text must fit; for numbers, the longest number so far. */
  const sizedFor = () => {
    if (typeof parameter.readable() !== 'number') return [text(), ...others];
    const zeros = text().replace(/\d/g, '0');
    if (zeros.length > widest.length) widest = zeros;
    return [widest, ...others];
  };
  return (
    <>
      <WidgetName label={label} address={address} />
      <FitText
        text={text()}
        unit={parameter.readable() === undefined ? '' : unit}
        tone={props.tone?.() ?? toneAt(zones, parameter.readable())}
        sizedFor={sizedFor()}
        live={typeof parameter.readable() === 'number' || isBusy() ? 'off' : 'polite'}
      />
      <WidgetFault address={address} parameter={parameter} values={props.values} />
    </>
  );
}

export function Lamp(props: WidgetProps<'lamp'>) {
  const { address, label, tone, equals, blink } = props.widget;
  const parameter = props.values.of(address);
  const lit = createLit(parameter, equals);
  const state = () => {
    if (parameter.value() === undefined && parameter.kind()?.type !== 'T') return 'unknown';
    return lit() ? 'on' : 'off';
  };
  return (
    <div
      class="light"
      classList={{ lit: lit(), blink: blink && lit() }}
      data-tone={props.tone?.() ?? tone}
      data-state={state()}
    >
      <FitText text={label ?? address} />
      <span class="word">{t(state())}</span>
      <WidgetFault address={address} parameter={parameter} values={props.values} />
    </div>
  );
}

export function Meter(props: WidgetProps<'meter'>) {
  const { address, label, min, max, unit, digits, zones, law, scale, peak } = props.widget;
  const parameter = props.values.of(address);
  const highest = createPeak(parameter, peak * 1000);
  const shareAt = (value: Value | undefined) => shareOf(value, min, max, law);
  return (
    <>
      <WidgetName label={label} address={address} />
      <div class="scaled" aria-hidden="true">
        <div class="track">
          <div
            class="bar-of"
            data-tone={props.tone?.() ?? toneAt(zones, parameter.value()) ?? 'ok'}
            style={{ transform: scaleTo(shareAt(parameter.value()), props.isLying()) }}
          />
          <For each={scale ? zones : []}>
            {({ from, tone }) => <i class="zone" data-tone={tone} style={{ '--share': shareAt(from) }} />}
          </For>
          <Show when={highest() !== undefined}>
            <i
              class="peak"
              data-tone={toneAt(zones, highest()) ?? 'neutral'}
              style={{ transform: moveTo(shareAt(highest()), props.isLying()) }}
            />
          </Show>
        </div>
        <Scale {...{ min, max, law }} isShown={scale} />
      </div>
      <Amount value={parameter.readable()} {...{ digits, unit }} range={[min, max]} type={parameter.kind()?.type} />
      <WidgetFault address={address} parameter={parameter} values={props.values} />
    </>
  );
}

/** How long a text must remain unchanged before it is announced, in milliseconds. */
const restMs = 2000;

/** Returns whether a value changes so often that a screen reader would talk continuously. */
function createBusy(value: () => unknown): () => boolean {
  const [isBusy, setBusy] = createSignal(false);
  const resting = useDelay();
  let changedMs = Number.NEGATIVE_INFINITY;
  createEffect(
    on(
      value,
      () => {
        const now = performance.now();
        if (now - changedMs < restMs) setBusy(true);
        changedMs = now;
        resting.start(restMs, () => setBusy(false));
      },
      { defer: true },
    ),
  );
  return isBusy;
}

/**
 * Returns the transform for a position. Only the transform changes with a value, because this requires no layout. The position is rounded,
 * because smaller steps would not be visible.
 */
function scaleTo(share: number, isLying: boolean): string {
  return `scale${isLying ? 'X' : 'Y'}(${share.toFixed(3)})`;
}

function moveTo(share: number, isLying: boolean): string {
  return `translate${isLying ? 'X' : 'Y'}(calc(${(isLying ? share : 1 - share).toFixed(3)} * (100% - 3px)))`;
}

/** The space that the number at a mark needs, across a horizontal scale and along a vertical scale, in rem. */
const markRem = { across: 2.6, along: 0.95 };

/** Shows marks with numbers along a meter or a fader. */
export function Scale(props: {
  readonly isShown: boolean;
  readonly min: number;
  readonly max: number;
  readonly law: Law;
}) {
  const [least, setLeast] = createSignal(markShare);
  const measure = (size: Size, rem: number) => {
    const needed = isLyingShape(size) ? (markRem.across * rem) / size.width : (markRem.along * rem) / size.height;
    setLeast(Math.max(markShare, needed));
  };
  return (
    <Show when={props.isShown}>
      <ol class="scale" ref={(list) => onMount(() => observeSize(list, measure))}>
        <For each={marksOf(props.min, props.max, props.law, least())}>
          {(mark) => (
            <li class="mark" style={{ '--share': shareOf(mark, props.min, props.max, props.law) }}>
              {showValue(mark)}
            </li>
          )}
        </For>
      </ol>
    </Show>
  );
}

/** Returns the highest number in the last `holdMs` milliseconds. Returns undefined if there is no number, or if the peak is not held. */
function createPeak(parameter: LiveParameter, holdMs: number): () => number | undefined {
  const [peak, setPeak] = createSignal<number>();
  if (holdMs === 0) return peak;
  const falling = useDelay();
  createEffect(() => {
    const value = parameter.value();
    if (typeof value !== 'number') return void setPeak(undefined);
    if (value < (untrack(peak) ?? -Infinity)) return undefined;
    setPeak(value);
    return falling.start(holdMs, () => setPeak(Number(parameter.value())));
  });
  return peak;
}
