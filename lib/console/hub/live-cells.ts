// Live values by address, updated once per animation frame: a page with hundreds of changing values would otherwise render thousands
// of times a second.

import { type Accessor, batch, createSignal, onCleanup, type Setter } from 'solid-js';
import type { About, Value, ValueType } from '../../client/index.ts';
import type { Access } from '../../model/parameter.ts';

export interface LiveParameter {
  /** The value; undefined if unknown. A trigger that has fired has 1. */
  readonly value: Accessor<Value | undefined>;
  /** Counts changes and fires after the first value. The page animates these. */
  readonly moves: Accessor<number>;
  /** When contact with the owning hub was lost, in milliseconds since 1970; undefined if it is fresh. */
  readonly staleSince: Accessor<number | undefined>;
  /** The value that was written and that its device has not confirmed yet; undefined if none is pending. */
  readonly wanted: Accessor<Value | undefined>;
  /** Label, unit, range and more; undefined if there is none. */
  readonly about: Accessor<About | undefined>;
  /** Type and access; undefined if the address has no parameter, or the hub has not reported it yet. */
  readonly kind: Accessor<Kind | undefined>;
}

export interface Kind {
  readonly type: ValueType;
  readonly access: Access;
}

interface Cell extends LiveParameter {
  readonly setValue: Setter<Value | undefined>;
  readonly setMoves: Setter<number>;
  readonly setKind: Setter<Kind | undefined>;
  readonly setStaleSince: Setter<number | undefined>;
  readonly setWanted: Setter<Value | undefined>;
  readonly setAbout: Setter<About | undefined>;
}

export interface LiveCells {
  of(address: string): LiveParameter;
  drop(address: string): void;
  /** Sets type and access of an address immediately. */
  define(address: string, kind: Kind | undefined): void;
  /** Immediately sets the time at which it became stale. */
  age(address: string, staleSince: number | undefined): void;
  /** Sets its pending value and its metadata immediately. */
  mark(address: string, marks: { readonly wanted: Value | undefined; readonly about: About | undefined }): void;
  /** Sets a value with the next frame. */
  put(address: string, value: Value | undefined, isMove: boolean): void;
}

/** Creates cells for the calling scope. `onMoves` receives the addresses that changed within one frame. */
export function createLiveCells(onMoves: (moved: ReadonlySet<string>) => void): LiveCells {
  const cells = new Map<string, Cell>(); // bounded by the addresses in use
  const pending = new Map<string, Value | undefined>();
  const moved = new Set<string>();
  let frame = 0;
  onCleanup(() => cancelAnimationFrame(frame));
  const flush = () => {
    frame = 0;
    batch(() => {
      for (const [address, value] of pending) cells.get(address)?.setValue(() => value);
      for (const address of moved) cells.get(address)?.setMoves((count) => count + 1);
      if (moved.size > 0) onMoves(moved);
    });
    pending.clear();
    moved.clear();
  };
  return {
    of(address) {
      const present = cells.get(address);
      if (present) return present;
      const cell = createCell();
      cells.set(address, cell);
      return cell;
    },
    drop: (address) => cells.delete(address),
    define: (address, kind) => cells.get(address)?.setKind(kind),
    mark(address, { wanted, about }) {
      const cell = cells.get(address);
      cell?.setWanted(() => wanted);
      cell?.setAbout(about);
    },
    age: (address, staleSince) => cells.get(address)?.setStaleSince(staleSince),
    put(address, value, isMove) {
      if (!cells.has(address)) return; // a pattern may match more than its own address
      pending.set(address, value);
      if (isMove) moved.add(address);
      frame ||= requestAnimationFrame(flush);
    },
  };
}

function createCell(): Cell {
  const [value, setValue] = createSignal<Value | undefined>();
  const [moves, setMoves] = createSignal(0);
  const [kind, setKind] = createSignal<Kind | undefined>();
  const [staleSince, setStaleSince] = createSignal<number | undefined>();
  const [wanted, setWanted] = createSignal<Value | undefined>();
  const [about, setAbout] = createSignal<About | undefined>();
  const marks = { staleSince, setStaleSince, wanted, setWanted, about, setAbout };
  return { value, setValue, moves, setMoves, kind, setKind, ...marks };
}
