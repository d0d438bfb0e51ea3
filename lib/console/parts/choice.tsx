// A list to choose from in a form. Typed letters lead to an option by way of others that begin alike: “an expression” by “always the same”.
// Browsers report each of them; only the one that stays is a choice.

import { type JSX, onCleanup } from 'solid-js';
import { useDelay } from '../page/page-timers.ts';

/** The pause in typing after which an option stays. A browser begins a new word after a second. */
const stayMs = 500;

export function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly children: JSX.Element;
  choose(value: string): void;
}) {
  const pause = useDelay();
  let passed: HTMLSelectElement | undefined;
  let isTyping = false;
  const settle = () => {
    pause.stop();
    isTyping = false;
    const list = passed;
    passed = undefined;
    if (list !== undefined && list.value !== props.value) props.choose(list.value);
  };
  onCleanup(() => pause.stop());
  return (
    <select
      aria-label={props.label}
      value={props.value}
      onKeyDown={({ key, ctrlKey, metaKey, altKey }) => {
        if (key.length > 1 || ctrlKey || metaKey || altKey) return settle(); // before Tab looks for the next field, which the choice may add
        isTyping = true;
        pause.start(stayMs, settle);
      }}
      onPointerDown={settle}
      onFocusOut={settle}
      onChange={({ currentTarget }) => {
        passed = currentTarget;
        if (!isTyping) settle();
      }}
    >
      {props.children}
    </select>
  );
}
