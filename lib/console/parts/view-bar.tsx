// Common parts of the bars above views: the search, which is kept in the URL, and the error of a request.

import { Show } from 'solid-js';
import { route, setParams } from '../page/route.ts';

/** The search text of the current view. An empty text matches everything. */
export const searched = () => route().params.search ?? '';

/**
 * Returns whether any of the strings contains the search text, ignoring case. Values other than strings count as empty, because people do
 * not search for them.
 */
export function isSought(...texts: readonly unknown[]): boolean {
  const wanted = searched().toLowerCase();
  return (
    wanted === '' ||
    texts
      .filter((text) => typeof text === 'string')
      .join(' ')
      .toLowerCase()
      .includes(wanted)
  );
}

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
