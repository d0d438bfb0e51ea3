// The header of a table.

import { For } from 'solid-js';

/** The header of a table. `numbers` lists the numeric columns, which are right-aligned. */
export function TableHead(props: { readonly columns: readonly string[]; readonly numbers?: readonly string[] }) {
  return (
    <thead>
      <tr>
        <For each={props.columns}>
          {(name) => (
            <th scope="col" class={props.numbers?.includes(name) ? 'number' : undefined}>
              {name}
            </th>
          )}
        </For>
      </tr>
    </thead>
  );
}
