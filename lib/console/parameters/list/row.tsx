// One line of the list of parameters: a folder, or a parameter with its live value and its last change.

import { Show } from 'solid-js';
import { writerName } from '../../../model/writer.ts';
import { ownAccess } from '../../hub/me.ts';
import { formatClock, formatCount, formatValue } from '../../page/units.ts';
import { LiveText } from '../../parts/live-text.tsx';
import { StaleMark } from '../../parts/stale-mark.tsx';
import type { Catalogue } from '../catalogue.ts';
import { typeNames } from '../types.ts';
import type { LiveRow } from './live-window.ts';
import type { Row } from './rows.ts';
import { rowId } from './virtual-list.tsx';

export interface ParameterRowProps {
  readonly place: number;
  readonly row: Row;
  readonly catalogue: Catalogue;
  readonly live: LiveRow | undefined;
  readonly isTree: boolean;
  readonly isFocused: boolean;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

export function ParameterRow(props: ParameterRowProps) {
  const isFolder = () => props.row.index < 0;
  const type = () => props.catalogue.typeOf(props.row.index);
  const writer = () => {
    const origin = props.live?.info()?.origin;
    return origin && writerName(origin);
  };
  return (
    <div
      id={rowId(props.place)}
      class="row"
      classList={{ focused: props.isFocused, opened: props.isOpen, folder: isFolder() }}
      role="row"
      aria-rowindex={props.place + 2}
      aria-level={props.isTree ? props.row.depth + 1 : undefined}
      aria-expanded={isFolder() ? props.row.isOpen : undefined}
      aria-selected={props.isOpen}
      data-address={props.row.address}
      onClick={() => props.onOpen()}
    >
      <span
        role="gridcell"
        class="name truncate"
        title={props.row.address}
        style={{ 'padding-left': `${props.row.depth * 1.1 + (props.row.depth > 0 && !isFolder() ? 1 : 0)}rem` }}
      >
        <Show when={isFolder()}>
          <span class="twist" aria-hidden="true">
            {props.row.isOpen ? '▾' : '▸'}
          </span>
        </Show>
        {props.row.label}
        <Show when={isFolder()}>
          {' '}
          <small>{formatCount(props.row.count)}</small>
        </Show>
      </span>
      <Show when={!isFolder()} fallback={<span role="gridcell" class="value" />}>
        <LiveValue live={props.live} isTrigger={type() === 'T'} isBoolean={type() === 'B'} />
        <span role="gridcell" class="muted type" title={typeNames[type()]}>
          {type()}
        </span>
        <span role="gridcell" class="muted access">
          {ownAccess(props.row.address, props.catalogue.accessOf(props.row.index))}
        </span>
        <span role="gridcell" class="muted time">
          {props.live?.info()?.time ? formatClock(props.live.info()!.time!) : ''}
        </span>
        <span role="gridcell" class="muted origin truncate" title={writer()}>
          {writer()}
        </span>
      </Show>
    </div>
  );
}

function LiveValue(props: {
  readonly live: LiveRow | undefined;
  readonly isTrigger: boolean;
  readonly isBoolean: boolean;
}) {
  const text = () => {
    const value = props.live?.value();
    if (props.live === undefined) return '';
    if (props.isTrigger) return 'trigger';
    return value === undefined ? 'unknown' : formatValue(value);
  };
  return (
    <span
      role="gridcell"
      class="value mono truncate live"
      classList={{
        muted: props.isTrigger || props.live?.value() === undefined,
        on: props.live?.value() === true,
        fresh: props.live?.isFresh(),
      }}
      onMouseEnter={({ currentTarget }) => {
        currentTarget.title = text(); // the row may cut it off
      }}
    >
      <StaleMark since={() => props.live?.staleSince()} />
      <Show when={props.isBoolean && props.live?.value() !== undefined}>
        <span class="bulb" aria-hidden="true" />
      </Show>
      <LiveText text={text()} />
    </span>
  );
}
