// Parameters: all of the hub, as a list or a tree. It searches while people type, and shows the one that they open in detail.

import { createEffect, createMemo, createSignal, on, Show } from 'solid-js';
import { useMedia, useSize } from '../media.ts';
import { useCatalogue } from '../parameters/catalogue.ts';
import { Detail } from '../parameters/detail.tsx';
import { useLiveRows } from '../parameters/live-window.ts';
import { Pinned } from '../parameters/pinned.tsx';
import { ParameterRow } from '../parameters/row.tsx';
import { listRows, type Row, type Rows, treeRows } from '../parameters/rows.ts';
import { search } from '../parameters/search.ts';
import { modeOf, SearchBar } from '../parameters/search-bar.tsx';
import { VirtualList } from '../parameters/virtual-list.tsx';
import { messageOf } from '../request.ts';
import { route, setParams } from '../route.ts';

const rowPx = 28;
/** A row of a narrow list has two lines. A finger needs as much room. */
const tallRowPx = 46;
const narrowPx = 560;
/** A search that finds no more than this opens all folders of the tree. */
const openAllBelow = 200;

export default function Parameters() {
  const { catalogue, error } = useCatalogue();
  const [openFolders, setOpenFolders] = createSignal<ReadonlySet<string>>(new Set<string>());
  const [focused, setFocused] = createSignal(-1);
  const [range, setRange] = createSignal<readonly [number, number]>([0, 0]);
  const text = () => route().params.search ?? '';
  const isTree = () => route().params.as === 'tree';
  let list!: HTMLDivElement;
  const size = useSize(() => list);
  const isNarrow = () => size().width < narrowPx;
  const isForFingers = useMedia('(pointer: coarse)');
  const rowHeight = () => (isNarrow() || isForFingers() ? tallRowPx : rowPx);

  const found = createMemo(() => {
    const all = catalogue();
    if (!all) return { places: new Int32Array(), fault: '' };
    try {
      return { places: search(all, modeOf(route().params.mode), text()), fault: '' };
    } catch (problem) {
      return { places: new Int32Array(), fault: messageOf(problem) };
    }
  });
  const rows = createMemo((): Rows => {
    const all = catalogue();
    const { places } = found();
    if (!all) return { length: 0, at: () => undefined as never };
    if (!isTree()) return listRows(all, places);
    const isAllOpen = text() !== '' && places.length <= openAllBelow;
    return treeRows(all, places, (folder) => isAllOpen || openFolders().has(folder));
  });
  const rowAt = (place: number): Row | undefined =>
    place >= 0 && place < rows().length ? rows().at(place) : undefined;
  const seen = createMemo(() => {
    const [from, to] = range();
    const addresses: string[] = [];
    for (let place = from; place < Math.min(to, rows().length); place++) {
      const row = rows().at(place);
      if (row.index >= 0) addresses.push(row.address);
    }
    return addresses;
  });
  const find = useLiveRows(seen);
  createEffect(on([text, isTree], () => setFocused(-1), { defer: true }));
  /** The address that has the focus. It keeps the focus when others come or go. */
  let focusedAddress: string | undefined;
  createEffect(
    on(focused, (place) => {
      focusedAddress = rowAt(place)?.address;
    }),
  );
  createEffect(
    on(
      rows,
      (now) => {
        if (focused() < 0 || rowAt(focused())?.address === focusedAddress) return;
        let place = now.length - 1;
        while (place >= 0 && now.at(place).address !== focusedAddress) place--;
        setFocused(place);
      },
      { defer: true },
    ),
  );

  const opened = () => route().params.address;
  const openedIndex = createMemo(() => (opened() ? (catalogue()?.addresses.indexOf(opened()!) ?? -1) : -1));
  const fold = (row: Row, isOpen: boolean) => {
    const next = new Set(openFolders());
    if (isOpen) next.add(row.address);
    else next.delete(row.address);
    setOpenFolders(next);
  };
  const open = (place: number) => {
    setFocused(place);
    const row = rowAt(place);
    if (!row) return;
    if (row.index < 0) fold(row, !row.isOpen);
    else setParams({ address: row.address });
  };
  const press = (event: KeyboardEvent) => {
    const row = rowAt(focused());
    if (event.key === 'Escape') setParams({ address: undefined });
    else if (row && (event.key === 'Enter' || event.key === ' ')) open(focused());
    else if (row && row.index < 0 && event.key === 'ArrowRight') fold(row, true);
    else if (row && row.index < 0 && event.key === 'ArrowLeft') fold(row, false);
    else return;
    event.preventDefault();
  };

  return (
    <div class="parameters" classList={{ detailed: openedIndex() >= 0 }}>
      <div ref={list} class="list" classList={{ narrow: isNarrow() }} style={{ '--row': `${rowHeight()}px` }}>
        <SearchBar
          count={found().places.length}
          total={catalogue()?.addresses.length}
          fault={found().fault || error()}
          onDown={() => document.querySelector<HTMLElement>('.grid')?.focus()}
        />
        <Show when={catalogue() && opened() && openedIndex() < 0}>
          <p role="alert" class="note error">
            There is no parameter {opened()}.
          </p>
        </Show>
        <Pinned onOpen={(address) => setParams({ address })} />
        <VirtualList
          label="Parameters"
          isTree={isTree()}
          header={<Header />}
          length={rows().length}
          rowHeight={rowHeight()}
          focused={focused()}
          onFocus={setFocused}
          onKey={press}
          onRange={(from, to) => setRange([from, to])}
        >
          {(place) => (
            <Show when={rowAt(place())}>
              {(row) => (
                <ParameterRow
                  place={place()}
                  row={row()}
                  catalogue={catalogue()!}
                  live={find(row().address)}
                  isTree={isTree()}
                  isFocused={place() === focused()}
                  isOpen={row().address === opened()}
                  onOpen={() => open(place())}
                />
              )}
            </Show>
          )}
        </VirtualList>
        <Show when={!catalogue() && !error()}>
          <p class="note">Reading the list of parameters …</p>
        </Show>
      </div>
      <Show when={openedIndex() >= 0}>
        <Detail
          address={opened()!}
          type={catalogue()!.typeOf(openedIndex())}
          access={catalogue()!.accessOf(openedIndex())}
          onClose={() => setParams({ address: undefined })}
        />
      </Show>
    </div>
  );
}

function Header() {
  return (
    <div role="row" class="row head" aria-rowindex={1}>
      <span role="columnheader" class="name">
        Address
      </span>
      <span role="columnheader" class="value">
        Value
      </span>
      <span role="columnheader" class="type">
        Type
      </span>
      <span role="columnheader" class="access">
        Access
      </span>
      <span role="columnheader" class="time">
        Changed
      </span>
      <span role="columnheader" class="origin">
        By
      </span>
    </div>
  );
}
