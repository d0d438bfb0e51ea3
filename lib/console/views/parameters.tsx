// Parameters: all of the hub, as a list or a tree. It searches while people type, and shows the one that they open in detail.

import { createMemo, Show } from 'solid-js';
import { useMedia, useSize } from '../page/media.ts';
import { route, setParams } from '../page/route.ts';
import { useCatalogue } from '../parameters/catalogue.ts';
import { Detail } from '../parameters/detail.tsx';
import { useFoundRows } from '../parameters/list/found-rows.ts';
import { SearchBar } from '../parameters/list/search-bar.tsx';
import { Table } from '../parameters/list/table.tsx';
import { Pinned } from '../parameters/pinned.tsx';

const rowPx = 28;
/** A row of a narrow list has two lines. A finger needs as much room. */
const tallRowPx = 46;
const narrowPx = 560;

export default function Parameters() {
  const { catalogue, error } = useCatalogue();
  const found = useFoundRows(catalogue);
  let list!: HTMLDivElement;
  const size = useSize(() => list);
  const isNarrow = () => size().width < narrowPx;
  const isForFingers = useMedia('(pointer: coarse)');
  const rowHeight = () => (isNarrow() || isForFingers() ? tallRowPx : rowPx);
  const opened = () => route().params.address;
  const openedIndex = createMemo(() => (opened() ? (catalogue()?.addresses.indexOf(opened()!) ?? -1) : -1));

  return (
    <div class="parameters" classList={{ detailed: openedIndex() >= 0 }}>
      <div ref={list} class="list" classList={{ narrow: isNarrow() }} style={{ '--row': `${rowHeight()}px` }}>
        <SearchBar
          count={found.count()}
          total={catalogue()?.addresses.length}
          fault={found.fault() || error()}
          onDown={() => document.querySelector<HTMLElement>('.grid')?.focus()}
        />
        <Show when={catalogue() && opened() && openedIndex() < 0}>
          <p role="alert" class="note error">
            There is no parameter {opened()}.
          </p>
        </Show>
        <Pinned onOpen={(address) => setParams({ address })} />
        <Table catalogue={catalogue()} found={found} rowHeight={rowHeight()} opened={opened()} />
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
