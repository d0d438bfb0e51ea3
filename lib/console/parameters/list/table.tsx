// The parameter list with live values, for mouse, fingers and keys.
import { type Accessor, createEffect, createMemo, createSignal, For, on, Show } from 'solid-js';
import { setParams } from '../../page/route.ts';
import { ariaSort, SortButton } from '../../parts/table-head.tsx';
import type { Catalogue } from '../catalogue.ts';
import { type FoundRows, sortColumns } from './found-rows.ts';
import { useLiveRows } from './live-window.ts';
import { ParameterRow, VirtualList } from './row.tsx';

interface TableProps {
  readonly catalogue: Catalogue | undefined;
  readonly found: FoundRows;
  readonly rowHeight: number;
  /** The address of the parameter whose details are open. */
  readonly opened: string | undefined;
}

export function Table(props: TableProps) {
  const { rows, at, fold, isTree } = props.found;
  const [focused, setFocused] = createFocus(props.found);
  const [range, setRange] = createSignal<readonly [number, number]>([0, 0]);
  const inView = createMemo(() => {
    const [from, to] = range();
    const addresses: string[] = [];
    for (let place = from; place < Math.min(to, rows().length); place++) {
      const row = rows().at(place);
      if (row.index >= 0) addresses.push(row.address);
    }
    return addresses;
  });
  const find = useLiveRows(inView);
  const open = (place: number) => {
    setFocused(place);
    const row = at(place);
    if (!row) return;
    if (row.index < 0) fold(row, !row.isOpen);
    else setParams({ address: row.address });
  };
  const press = (event: KeyboardEvent) => {
    const row = at(focused());
    if (event.key === 'Escape') setParams({ address: undefined });
    else if (row && (event.key === 'Enter' || event.key === ' ')) open(focused());
    else if (row && row.index < 0 && event.key === 'ArrowRight') fold(row, true);
    else if (row && row.index < 0 && event.key === 'ArrowLeft') fold(row, false);
    else return;
    event.preventDefault();
  };
  return (
    <VirtualList
      label="Parameters"
      isTree={isTree()}
      header={<Header isTree={isTree()} />}
      length={rows().length}
      rowHeight={props.rowHeight}
      focused={focused()}
      onFocus={setFocused}
      onKey={press}
      onRange={(from, to) => setRange([from, to])}
    >
      {(place) => (
        <Show when={at(place())}>
          {(row) => (
            <ParameterRow
              place={place()}
              row={row()}
              catalogue={props.catalogue!}
              live={find(row().address)}
              isTree={isTree()}
              isFocused={place() === focused()}
              isOpen={row().address === props.opened}
              onOpen={() => open(place())}
            />
          )}
        </Show>
      )}
    </VirtualList>
  );
}

const columns = [
  ['name', 'Address'],
  ['value', 'Value'],
  ['type', 'Type'],
  ['access', 'Access'],
  ['time', 'Changed'],
  ['origin', 'By'],
] as const;

/**
 * The titles of the columns. The list is sorted by properties that are known for all parameters; the recent changes are sorted by values,
 * times and authors.
 */
function Header(props: { readonly isTree: boolean }) {
  return (
    <div role="row" class="row head" aria-rowindex={1}>
      <For each={columns}>
        {([by, title]) => {
          const sorts = () => !props.isTree && sortColumns.some((one) => one === by);
          return (
            <span
              role="columnheader"
              class={by}
              aria-sort={sorts() ? ariaSort({ columns: sortColumns, by }) : undefined}
            >
              <Show when={sorts()} fallback={title}>
                <SortButton columns={sortColumns} by={by} title={title} />
              </Show>
            </span>
          );
        }}
      </For>
    </div>
  );
}

// The focused row of the list. The focus stays with an address when other rows appear or disappear.

/** Returns the index of the focused row and its setter; -1 means that no row is focused. A new search clears the focus. */
function createFocus({ text, isTree, rows, at }: FoundRows): readonly [Accessor<number>, (place: number) => void] {
  const [focused, setFocused] = createSignal(-1);
  let focusedAddress: string | undefined;
  createEffect(on([text, isTree], () => setFocused(-1), { defer: true }));
  createEffect(
    on(focused, (place) => {
      focusedAddress = at(place)?.address;
    }),
  );
  createEffect(
    on(
      rows,
      (now) => {
        if (focused() < 0 || at(focused())?.address === focusedAddress) return;
        let place = now.length - 1;
        while (place >= 0 && now.at(place).address !== focusedAddress) place--;
        setFocused(place);
      },
      { defer: true },
    ),
  );
  return [focused, setFocused];
}
