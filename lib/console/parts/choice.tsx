// A list from which the user chooses in a form. While the user types letters, the browser passes through other options that begin alike: it
// reaches “an expression” through “always the same”. Browsers report each of these options, but only the option that stays selected counts
// as chosen.

import { type JSX, onCleanup } from 'solid-js';
import { useDelay } from '../page/page-timers.ts';

/** The pause in typing after which an option counts as chosen, in milliseconds. A browser begins a new word after a second. */
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
        if (key.length > 1 || ctrlKey || metaKey || altKey) return settle(); // before Tab looks for a field that the choice may add
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
