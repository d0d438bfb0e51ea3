// The frame around the forms in the details of a parameter: Enter saves the form; Escape and Cancel close it.

import type { JSX } from 'solid-js';
import { Fault } from '../../parts/view-bar.tsx';

export function DetailForm(props: {
  readonly class?: string;
  /** The label of the button that saves the form. */
  readonly verb: string;
  readonly canSave: boolean;
  readonly failure: string;
  save(): void;
  close(): void;
  readonly children: JSX.Element;
}) {
  return (
    <form
      class={`label-form ${props.class ?? ''}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (props.canSave) props.save();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        props.close();
      }}
    >
      {props.children}
      <span class="actions">
        <button type="submit" class="main" disabled={!props.canSave}>
          {props.verb}
        </button>
        <button type="button" onClick={() => props.close()}>
          Cancel
        </button>
      </span>
      <Fault text={props.failure} />
    </form>
  );
}
