// A fader. While it is held it shows what the hand says, whatever the hub tells; the hub has the word again once the last write
// has got there.

import { createEffect, createSignal, onCleanup } from 'solid-js';
import { isStale } from '../hub.ts';
import { showValue } from './showing.ts';
import { Trouble, useWrites, type WidgetProps } from './widget.tsx';
import { createWriter } from './writer.ts';

/** The values that a write leads to are on their way for so long; the fader waits for them. */
const settleMs = 300;

export function FaderWidget(props: WidgetProps<'fader'>) {
  const { address, label, min, max, step, unit, digits } = props.widget;
  const parameter = props.values.of(address);
  const { send, fail, failure } = useWrites(address);
  /** What the hand says; undefined: the hub has the word. */
  const [own, setOwn] = createSignal<number>();
  let isHeld = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(timer));

  const letGo = () => {
    clearTimeout(timer);
    timer = setTimeout(() => !isHeld && !writer.isBusy && setOwn(undefined), settleMs);
  };
  const writer = createWriter({
    send,
    settled(error) {
      if (error !== undefined) fail(error);
      letGo();
    },
  });
  const shown = () => own() ?? parameter.value();
  let input!: HTMLInputElement;
  createEffect(() => {
    const value = Number(shown() ?? min);
    if (input.valueAsNumber !== value) input.value = String(value);
  });
  const isReadOnly = () => parameter.kind()?.access === 'read-only';
  const release = () => {
    isHeld = false;
    letGo();
  };

  return (
    <>
      <p class="name truncate">{label}</p>
      <input
        ref={input}
        type="range"
        aria-label={label ?? address}
        min={min}
        max={max}
        step={step ?? (max - min) / 100}
        disabled={isStale() || isReadOnly()}
        onPointerDown={() => {
          isHeld = true;
        }}
        onPointerUp={release}
        onPointerCancel={release}
        onInput={(event) => {
          setOwn(event.currentTarget.valueAsNumber);
          writer.write(event.currentTarget.valueAsNumber);
        }}
      />
      <output class="amount">
        {showValue(shown(), digits)} {unit}
      </output>
      <Trouble parameter={parameter} values={props.values} failure={failure()} />
    </>
  );
}
