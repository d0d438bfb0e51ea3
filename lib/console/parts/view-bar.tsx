// What the bars above the views share: the search, which the address of the page keeps, and why the hub could not be asked.

import { Show } from 'solid-js';
import { route, setParams } from '../page/route.ts';

/** What people search for in the present view; empty: everything. */
export const searched = () => route().params.search ?? '';

export function Search(props: { readonly label: string; readonly placeholder: string }) {
  return (
    <input
      type="search"
      class="grow"
      data-search
      placeholder={`${props.placeholder}  ( / )`}
      aria-label={props.label}
      value={searched()}
      onInput={(event) => setParams({ search: event.currentTarget.value })}
    />
  );
}

export function Fault(props: { readonly text: string }) {
  return (
    <Show when={props.text}>
      <p role="alert" class="note error">
        {props.text}
      </p>
    </Show>
  );
}
