// The parts that all widgets share: their properties, writes and errors.

import { createEffect, createMemo, createSignal, on, Show, untrack } from 'solid-js';
import type { Value, ValueType } from '../../client/index.ts';
import type { SingleWidget, Tone } from '../../dashboard/format.ts';
import { lastPartOf, pathOf } from '../../model/address.ts';
import { messageOf } from '../../model/error.ts';
import type { LiveParameter } from '../hub/live-cells.ts';
import type { LiveValues } from '../hub/live-values.ts';
import { whyReadOnly } from '../hub/me.ts';
import { hub, isStale } from '../hub/page-hub.ts';
import { request } from '../hub/page-request.ts';
import { t } from '../language/language.ts';
import type { Size } from '../page/media.ts';
import { useDelay } from '../page/page-timers.ts';
import { beginningOf } from '../page/units.ts';
import { LiveText } from '../parts/text.tsx';
import { type Drawn, isLit, showValue } from './showing.ts';

/** How long a widget shows a failed write, in milliseconds. */
const failureMs = 5000;

export interface WidgetProps<Type extends SingleWidget['type']> {
  readonly widget: Drawn<Type>;
  readonly values: LiveValues;
  /** The tone according to the expression `toneBy`; undefined means the widget's own tone. */
  readonly tone?: () => Tone | undefined;
  /** Whether the widget is much wider than it is high, so that bars run from left to right. */
  readonly isLying: () => boolean;
}

/** Returns whether an area is so much wider than it is high that bars and faders in it run from left to right. */
export function isLyingShape({ width, height }: Size): boolean {
  return width >= height * 1.5;
}

/** The name of a widget: its label or, without one, the last part of its address. */
export function WidgetName(props: { readonly label: string | undefined; readonly address?: string }) {
  const name = () => props.label ?? (props.address === undefined ? '' : lastPartOf(props.address));
  return (
    <p class="name truncate" title={name()}>
      {name()}
    </p>
  );
}

/** The decimals that are assumed for a number that may have decimals. */
const usualDecimals = '.25';
/** The string lengths that have their own font size, in characters, so that values of about the same length have the same size. */
const lengths = [7, 10, 14, 20];

/** Shows a value with its unit on one line, in a size that fits. Screen readers can find the value, but do not announce its changes. */
export function Amount(props: {
  readonly value: Value | undefined;
  readonly digits: number | undefined;
  readonly unit: string;
  /** The range of the value, so that all values in the range have the same size. */
  readonly range?: readonly [min: number, max: number];
  /** The type, because integers have no decimals. */
  readonly type?: ValueType | undefined;
}) {
  const longest = () => Math.max(0, ...(props.range ?? []).map((end) => showValue(end, props.digits).length));
  const decimals = () =>
    props.range === undefined || props.digits !== undefined || props.type === 'I' ? '' : usualDecimals;
  const text = createMemo(() => `${beginningOf(showValue(props.value, props.digits))} ${props.unit}`);
  const length = () =>
    Math.max(text().trim().length, `${'0'.repeat(longest())}${decimals()} ${props.unit}`.trim().length);
  return (
    <output
      class="amount"
      aria-live="off"
      style={{ '--letters': lengths.find((one) => one >= length()) ?? length() }}
      onPointerEnter={showWhole}
    >
      <LiveText text={text()} />
    </output>
  );
}

/** Shows the whole text of an element in its tooltip. An attribute that is updated with a value would cost as much as the text. */
export function showWhole({ currentTarget }: { readonly currentTarget: HTMLElement }): void {
  currentTarget.title = currentTarget.textContent.trim();
}

/** Shows that the parameter does not exist, with the most similar address as a suggestion, or the reason why the last write failed. */
export function WidgetFault(props: {
  readonly address: string;
  readonly parameter: LiveParameter;
  readonly values: LiveValues;
  readonly failure?: string;
}) {
  const isMissing = () => props.values.isComplete() && !props.parameter.kind();
  const [hint, setHint] = createSignal('');
  createEffect(() => isMissing() && void nearestTo(props.address).then(setHint));
  const text = () =>
    props.failure ||
    (isMissing() ? (hint() ? t('no such parameter, did you mean "{1}"?', hint()) : t('no such parameter')) : '');
  return (
    <Show when={text()}>
      <p class="trouble" role="alert" title={text()}>
        {text()}
      </p>
    </Show>
  );
}

/** Asks the hub for the most similar address. Returns an empty string if no address is similar. */
async function nearestTo(address: string): Promise<string> {
  const refusal = await request(`/hub/explain/${pathOf(address)}`).catch((error: unknown) => error);
  return /, did you mean "(.*)"\?$/.exec(messageOf(refusal))?.[1] ?? '';
}

export type Writes = ReturnType<typeof useWrites>;

/** Returns how a control writes its parameter, and keeps the error from the last write for a while. */
export function useWrites(address: string) {
  const [failure, setFailure] = createSignal('');
  const forgetting = useDelay();
  return {
    failure,
    fail(error: unknown) {
      setFailure(messageOf(error));
      forgetting.start(failureMs, () => setFailure(''));
    },
    send: (value: string | number | boolean) => hub.set(address, value),
  };
}

/** How long a written value counts as the newest value, in milliseconds, because values from the hub may be older. */
const settleMs = 500;

/** Returns what all controls that write one parameter share: the parameter, its writes, and why it may be read-only. */
export function useControl(props: Pick<WidgetProps<'select'>, 'values'>, address: string) {
  const parameter = props.values.of(address);
  const { send, fail, failure } = useWrites(address);
  const readOnly = () => whyReadOnly(address, parameter.kind()?.access);
  const settling = useDelay();
  let written: Value | undefined;
  const forget = () => {
    written = undefined;
  };
  return {
    parameter,
    failure,
    /** The reason why the user may not set the parameter. Empty if the user may set it. */
    readOnly,
    isFree: () => !isStale() && parameter.kind() !== undefined && !readOnly(),
    /** The value to show: the pending value, or otherwise the current value. */
    shown: () => parameter.wanted() ?? parameter.readable(),
    /** The newest value, from which a step starts. What is shown may be older. */
    newest: () => written ?? untrack(parameter.wanted) ?? untrack(parameter.value),
    write(value: Value) {
      written = value;
      settling.start(settleMs, forget);
      send(value).catch((error: unknown) => {
        forget();
        fail(error);
      });
    },
  };
}

/** How long a trigger lights the widget, in milliseconds. */
const flashMs = 400;

/**
 * Returns whether a widget is lit. A trigger makes the widget flash on each firing; any other parameter lights the widget at the value
 * `equals` or, if omitted, at values that D-02 converts to true.
 */
export function createLit(parameter: LiveParameter, equals?: Value): () => boolean {
  const [hasFired, setFired] = createSignal(false);
  const flashing = useDelay();
  const isTrigger = () => parameter.kind()?.type === 'T';
  const flash = () => {
    if (!isTrigger()) return;
    setFired(true);
    flashing.start(flashMs, () => setFired(false));
  };
  createEffect(on(parameter.moves, flash, { defer: true }));
  return () => (isTrigger() ? hasFired() : isLit(parameter.value(), equals));
}
