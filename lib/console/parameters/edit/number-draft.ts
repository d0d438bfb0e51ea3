// Editing a number: typing, stepping, setting, and discarding the typed text.

import { useDelay } from '../../page/page-timers.ts';
import { createDraft, type Draft, type FieldProps } from './draft.ts';
import { readTypedNumber } from './typed-number.ts';

/**
 * How long further steps start from the previous step instead of the hub's value, in milliseconds, because values from the hub may be older
 * than the steps.
 */
const settleMs = 500;
const digits = 15;

export interface NumberDraft extends Draft {
  readonly step: number;
  /** Sets the number in the field, if the field contains a number. */
  set(): void;
  /** Changes the number by a step, and sets the result. */
  nudge(by: number): Promise<void>;
  /** Handles a key: arrow keys change the number in the field by a step; Esc discards the typed text. */
  press(event: KeyboardEvent): void;
}

/**
 * Creates the draft for a number field. The draft follows the value of the field's parameter until the calling reactive scope is disposed.
 */
export function createNumberDraft(props: FieldProps): NumberDraft {
  const isInteger = props.type === 'I';
  const step = isInteger ? 1 : 0.1;
  const draft = createDraft(() => (props.value === undefined ? undefined : String(props.value)));
  const settling = useDelay();
  let stepped: number | undefined;
  const forget = () => {
    stepped = undefined;
  };
  /** Returns the number in the field. If the text is not a number, shows an error and returns undefined. */
  const read = (): number | undefined => {
    const typed = readTypedNumber(draft.text(), isInteger);
    if ('value' in typed) return typed.value;
    props.refuse(typed.mistake);
    return undefined;
  };
  const write = async (value: number) => {
    const before = draft.text();
    const isDone = await props.set(value);
    if (isDone && draft.text() === before) draft.settle(String(value));
    return isDone;
  };
  const add = (by: number) => {
    const from = draft.isTyped() ? read() : (stepped ?? props.value ?? read());
    if (from === undefined) return undefined;
    return Number((Number(from) + by).toPrecision(digits));
  };
  return {
    ...draft,
    step,
    set() {
      const value = read();
      if (value !== undefined) void write(value);
    },
    async nudge(by) {
      const next = add(by);
      if (next === undefined) return;
      stepped = next;
      settling.stop();
      if (!(await write(next))) forget();
      settling.start(settleMs, forget);
    },
    press(event) {
      const isUp = event.key === 'ArrowUp';
      if (isUp || event.key === 'ArrowDown') {
        event.preventDefault();
        const next = add(isUp ? step : -step);
        if (next !== undefined) draft.type(String(next));
      } else if (event.key === 'Escape' && draft.isTyped()) {
        event.stopPropagation();
        draft.discard();
        props.refuse('');
      }
    },
  };
}
