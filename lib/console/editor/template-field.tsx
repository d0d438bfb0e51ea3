// A field for a string with template variables. A variable such as `${n}` is a single piece, which can be removed as a whole, but not
// edited. Between the pieces are plain inputs, and the arrow keys move from one input to the next.

import { createMemo, createSignal, Index, type JSX, Show } from 'solid-js';
import { joined, partsOf } from './templates.ts';

function hasVariables(text: string): boolean {
  return partsOf(text).length > 1;
}

interface FieldProps {
  readonly label: string;
  readonly text: string;
  readonly isWrong?: boolean;
  readonly isAddress?: boolean;
  /** Returns a string in which each `${…}` is replaced with its value. */
  expand(text: string): string;
  change(text: string): void;
}

/**
 * Shows a string that contains variables as pieces, and any other string with `plain`. The kind of field does not change while the field
 * has the focus, so that the cursor is not lost when the user types or removes a variable.
 */
export function TextField(props: FieldProps & { readonly plain: JSX.Element }) {
  const [isFocused, setFocused] = createSignal(false);
  const isTemplate = createMemo<boolean>((was) => (isFocused() ? was : hasVariables(props.text)), false);
  return (
    <span
      class="held"
      onFocusIn={() => setFocused(true)}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) setFocused(false);
      }}
    >
      <Show when={isTemplate()} fallback={props.plain}>
        <TemplateField {...props} />
      </Show>
    </span>
  );
}

function TemplateField(props: FieldProps) {
  const parts = () => partsOf(props.text);
  let group: HTMLSpanElement | undefined;
  const pieces = () => [...(group?.querySelectorAll<HTMLInputElement | HTMLButtonElement>('input, button') ?? [])];
  const focus = (index: number, atEnd: boolean) => {
    const piece = pieces()[index];
    piece?.focus();
    if (piece instanceof HTMLInputElement) piece.setSelectionRange(atEnd ? 9e9 : 0, atEnd ? 9e9 : 0);
  };
  /** Removes a variable. The strings on both sides become one string, and the cursor stays between them. */
  const remove = (index: number) => {
    const at = parts()[index - 1]!.text.length;
    const input = pieces()[index - 1];
    input?.focus(); // first, because the piece with the focus may be removed
    props.change(joined(parts().filter((_, place) => place !== index)));
    if (input instanceof HTMLInputElement) input.setSelectionRange(at, at);
  };
  const replace = (index: number, text: string) =>
    props.change(joined(parts().map((part, place) => (place === index ? { text } : part))));
  const onInputKey = (event: KeyboardEvent & { currentTarget: HTMLInputElement }, index: number) => {
    const { selectionStart, selectionEnd, value } = event.currentTarget;
    const isAtStart = selectionStart === 0 && selectionEnd === 0;
    const isAtEnd = selectionStart === value.length && selectionEnd === value.length;
    if (event.key === 'Backspace' && isAtStart && index > 0) remove(index - 1);
    else if (event.key === 'Delete' && isAtEnd && index < parts().length - 1) remove(index + 1);
    else if (event.key === 'ArrowLeft' && isAtStart && index > 0) focus(index - 1, true);
    else if (event.key === 'ArrowRight' && isAtEnd && index < parts().length - 1) focus(index + 1, false);
    else return;
    event.preventDefault();
  };
  const onChipKey = (event: KeyboardEvent, index: number) => {
    if (event.key === 'Backspace' || event.key === 'Delete') remove(index);
    else if (event.key === 'ArrowLeft') focus(index - 1, true);
    else if (event.key === 'ArrowRight') focus(index + 1, false);
    else return;
    event.preventDefault();
  };
  return (
    <span
      class="template mono"
      classList={{ address: props.isAddress ?? false, wrong: props.isWrong ?? false }}
      role="group"
      aria-label={props.label}
      ref={group}
    >
      <Index each={parts()}>
        {(part, index) => (
          <Show
            when={part().variable}
            fallback={
              <input
                type="text"
                class="mono"
                autocomplete="off"
                spellcheck={false}
                aria-label={`${props.label}, text ${index / 2 + 1}`}
                aria-invalid={props.isWrong}
                style={{ width: `${Math.max(1, part().text.length) + 1}ch` }}
                value={part().text}
                onInput={(event) => replace(index, event.currentTarget.value)}
                onKeyDown={(event) => onInputKey(event, index)}
              />
            }
          >
            {(variable) => (
              <button
                type="button"
                class="chip"
                title="A variable: press Delete to remove it"
                aria-label={`${variable()} ${props.expand(part().text)}: a variable, press Delete to remove it`}
                onKeyDown={(event) => onChipKey(event, index)}
              >
                {variable()} <small>{props.expand(part().text)}</small>
              </button>
            )}
          </Show>
        )}
      </Index>
    </span>
  );
}
