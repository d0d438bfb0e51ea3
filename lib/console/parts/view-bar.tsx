// Common parts of the bars above the views: the search, which the URL contains, and the error of a request.

import { Show } from 'solid-js';
import { route, setParams } from '../page/route.ts';

/** The search text of the current view; empty: everything. */
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
