// Parameters: all parameters of the hub, as a list or a tree, with live search and the details of the open parameter.
import { createMemo, createSignal, For, Show } from 'solid-js';
import { letterScale, useMedia, useSize } from '../page/media.ts';
import { useInterval } from '../page/page-timers.ts';
import { route, setParams } from '../page/route.ts';
import { formatValue } from '../page/units.ts';
import { Guarded } from '../parts/guarded.tsx';
import { StaleMark } from '../parts/state-mark.tsx';
import { useCatalogue } from './catalogue.ts';
import { Detail } from './detail.tsx';
import { useFoundRows } from './list/found-rows.ts';
import { useLiveRows } from './list/live-window.ts';
import { SearchBar } from './list/search-bar.tsx';
import { Table } from './list/table.tsx';
import { Recent } from './recent.tsx';
import { pins, record } from './recordings.ts';

const rowPx = 28;
/** The height of a row in a narrow list, in pixels. Such a row has two lines, and touch input needs the same height. */
const tallRowPx = 46;
const narrowPx = 560;

export default function Parameters() {
  const { catalogue, error } = useCatalogue();
  const found = useFoundRows(catalogue);
  let list!: HTMLDivElement;
  const size = useSize(() => list);
  const isNarrow = () => size().width < narrowPx;
  const isForFingers = useMedia('(pointer: coarse)');
  const isHuge = useMedia('(min-width: 2600px) and (min-height: 1500px)');
  const scale = createMemo(() => (isHuge() ? letterScale() : 1));
  const rowHeight = () => Math.round((isNarrow() || isForFingers() ? tallRowPx : rowPx) * scale());
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
            Unknown parameter {opened()}.
          </p>
        </Show>
        <Pinned onOpen={(address) => setParams({ address })} />
        <Show
          when={route().params.as === 'recent'}
          fallback={<Table catalogue={catalogue()} found={found} rowHeight={rowHeight()} opened={opened()} />}
        >
          <Recent />
        </Show>
        <Show when={!catalogue() && !error()}>
          <p class="note">Loading parameters …</p>
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

// The pinned parameters above the list, with their current values and the last minute.

export function Pinned(props: { readonly onOpen: (address: string) => void }) {
  const find = useLiveRows(pins, { settleMs: 0 });
  return (
    <Show when={pins().length > 0}>
      <section class="pins" aria-label="Pinned">
        <For each={pins()}>
          {(address) => (
            <Guarded changed={() => find(address)?.value()}>
              <button type="button" class="pin" onClick={() => props.onOpen(address)}>
                <span class="truncate" title={address}>
                  {address}
                </span>
                <strong class="mono live">{formatValue(find(address)?.value())}</strong>
                <StaleMark since={() => find(address)?.staleSince()} />
                <Sparkline address={address} />
              </button>
            </Guarded>
          )}
        </For>
      </section>
    </Show>
  );
}

// A sparkline: a line of the size of a word, with the values of a number or boolean over the last minute.

const spanMs = 60_000;
const intervalMs = 500;
const width = 120;
const height = 22;

function Sparkline(props: { readonly address: string }) {
  const [path, setPath] = createSignal('');
  const draw = () => setPath(pathOf(props.address));
  draw();
  useInterval(draw, intervalMs);
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      <path d={path()} />
    </svg>
  );
}

/** Returns the SVG path of the steps: a value holds until the next value, or until the value is unknown or stale. */
function pathOf(address: string): string {
  const now = Date.now();
  const { times, values } = record(address).since(now - spanMs);
  const known = values.filter((value) => value !== null);
  const low = Math.min(...known);
  const range = Math.max(...known) - low || 1;
  let path = '';
  let isDown = false;
  for (const [index, time] of times.entries()) {
    const value = values[index]!;
    const x = Math.max(0, width - ((now - time) / spanMs) * width).toFixed(1);
    if (value === null) {
      if (isDown) path += `H${x}`;
      isDown = false;
      continue;
    }
    const y = (height - 2 - ((value - low) / range) * (height - 4)).toFixed(1);
    path += isDown ? `H${x}V${y}` : `M${x} ${y}`;
    isDown = true;
  }
  return path;
}
