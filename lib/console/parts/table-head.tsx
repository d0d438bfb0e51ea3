// The header of a table whose columns can be used for sorting. The URL contains the order: `sort=value`, or `sort=-value` for the reverse
// order.

import { For, Show } from 'solid-js';
import { route, setParams } from '../page/route.ts';

/** Returns the column by which a table is sorted, by default the first column, and whether the order is reversed. */
export function sortOf<Column extends string>(columns: readonly Column[]): { by: Column; isReversed: boolean } {
  const { sort = '' } = route().params;
  const isReversed = sort.startsWith('-');
  const named = isReversed ? sort.slice(1) : sort;
  return { by: columns.find((one) => one === named) ?? columns[0]!, isReversed };
}

interface SortProps {
  /** The columns by which the table can be sorted. */
  readonly columns: readonly string[];
  readonly by: string;
}

/** Returns the state of a column for `aria-sort`. */
export function ariaSort({ columns, by }: SortProps): 'ascending' | 'descending' | undefined {
  const sorted = sortOf(columns);
  if (sorted.by !== by) return undefined;
  return sorted.isReversed ? 'descending' : 'ascending';
}

/** The title of a column, as a button that sorts by the column or, if the table is already sorted by the column, reverses the order. */
export function SortButton(props: SortProps & { readonly title: string }) {
  const state = () => ariaSort(props);
  const sort = () => {
    const isFirst = props.by === props.columns[0];
    const next = state() === 'ascending' ? `-${props.by}` : props.by;
    setParams({ sort: isFirst && next === props.by ? undefined : next });
  };
  return (
    <button type="button" class="sort" onClick={sort} onKeyDown={(event) => event.stopPropagation()}>
      {props.title}
      <span aria-hidden="true">{state() === undefined ? '' : state() === 'ascending' ? ' ▴' : ' ▾'}</span>
    </button>
  );
}

/**
 * `numbers` contains the numeric columns, which are right-aligned. `sorts` contains the names of the columns by which the table can be
 * sorted, by title.
 */
export function TableHead(props: {
  readonly columns: readonly string[];
  readonly numbers?: readonly string[];
  readonly sorts?: ReadonlyMap<string, string>;
}) {
  const sorts = () => [...(props.sorts?.values() ?? [])];
  return (
    <thead>
      <tr>
        <For each={props.columns}>
          {(title) => {
            const by = () => props.sorts?.get(title);
            return (
              <th
                scope="col"
                class={props.numbers?.includes(title) ? 'number' : undefined}
                aria-sort={by() === undefined ? undefined : ariaSort({ columns: sorts(), by: by()! })}
              >
                <Show when={by()} fallback={title}>
                  {(name) => <SortButton columns={sorts()} by={name()} title={title} />}
                </Show>
              </th>
            );
          }}
        </For>
      </tr>
    </thead>
  );
}
