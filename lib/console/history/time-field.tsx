// A field to type an exact time. Nothing of what people type is lost while the time goes on.

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
  const isWrong = () => Boolean(typed()?.trim()) && readField(typed()!, hubNow()) === undefined;
  const take = () => {
    const text = typed();
    if (text === undefined || isWrong()) return;
    setTyped(undefined);
    props.take(readField(text, hubNow()));
  };
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
      value={typed() ?? (props.time === undefined ? '' : fieldText(props.time))}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onBlur={take}
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
