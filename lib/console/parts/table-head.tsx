// The head of a table: the names of its columns.

import { For } from 'solid-js';

/** `numbers` are the columns whose values are numbers, which stand on the right. */
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
