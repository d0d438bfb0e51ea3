// A field to type an exact time. While people are in it, it stands still: the time that goes on would undo what they have selected.

import { createSignal } from 'solid-js';
import { fieldText, readField } from './clock-text.ts';
import { hubNow } from './hub-clock.ts';

export function TimeField(props: {
  readonly label: string;
  /** undefined: none. */
  readonly time: number | undefined;
  readonly disabled?: boolean;
  /** Hears a time; undefined: the field was emptied. */
  take(time: number | undefined): void;
}) {
  const [typed, setTyped] = createSignal<string>();
  /** What it said when people came. */
  const [held, setHeld] = createSignal<string>();
  const isWrong = () => Boolean(typed()?.trim()) && readField(typed()!, hubNow()) === undefined;
  const take = () => {
    const text = typed();
    if (text === undefined || isWrong()) return;
    setTyped(undefined);
    setHeld(undefined);
    props.take(readField(text, hubNow()));
  };
  const known = () => (props.time === undefined ? '' : fieldText(props.time));
  return (
    <input
      type="text"
      class="time-field"
      aria-label={props.label}
      aria-invalid={isWrong()}
      autocomplete="off"
      placeholder={`${props.label} 03:00`}
      title={`${props.label}: 2026-11-22 03:04:10, or 3:04 for the last one that has been`}
      disabled={props.disabled}
      value={typed() ?? held() ?? known()}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onFocus={() => setHeld(known())}
      onBlur={() => {
        setHeld(undefined);
        take();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') take();
        else if (event.key === 'Escape' && typed() !== undefined) {
          setTyped(undefined);
          event.stopPropagation();
        }
      }}
    />
  );
}
