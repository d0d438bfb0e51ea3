// Live values of many parameters at a bounded rate. The page hears once per frame of the screen of all that has come: with hundreds
// of values that change, it would otherwise work thousands of times a second.

import { type Accessor, batch, createEffect, createSignal, on, onCleanup, type Setter } from 'solid-js';
import type { ParameterView, Unsubscribable, Value, ValueType } from '../client/index.ts';
import type { Access } from '../model/parameter.ts';
import { hub } from './hub.ts';

/** One message of subscription has room for so many of the longest addresses. */
const addressesPerSelection = 190;

export interface LiveParameter {
  /** undefined: unknown. A trigger that has fired has 1. */
  readonly value: Accessor<Value | undefined>;
  /** Counts changes and fires after the present value became known. The page moves for these. */
  readonly moves: Accessor<number>;
  /** What kind of parameter it is; undefined: the address has none, or the hub has not told it yet. */
  readonly kind: Accessor<{ readonly type: ValueType; readonly access: Access } | undefined>;
}

export interface LiveValues {
  of(address: string): LiveParameter;
  /** Forgets an address that is no longer asked for. */
  drop(address: string): void;
  /** Whether the hub has told everything. An address without a kind then has no parameter. */
  readonly isComplete: Accessor<boolean>;
}

interface Cell extends LiveParameter {
  readonly setValue: Setter<Value | undefined>;
  readonly setMoves: Setter<number>;
  readonly setKind: Setter<{ readonly type: ValueType; readonly access: Access } | undefined>;
}

/**
 * Follows the addresses for the scope that calls it, at most `rate` times a second. `onMoves` hears which values moved within
 * one frame.
 */
export function createLiveValues(
  addresses: Accessor<readonly string[]>,
  rate: Accessor<number>,
  onMoves: (moved: ReadonlySet<string>) => void = () => {},
): LiveValues {
  const cells = new Map<string, Cell>(); // bounded by the addresses that were added and not dropped
  const pending = new Map<string, Value | undefined>();
  const moved = new Set<string>();
  const [isComplete, setComplete] = createSignal(false);
  let frame = 0;
  let followed: readonly Unsubscribable[] = [];

  const cellOf = (address: string): Cell => {
    const present = cells.get(address);
    if (present) return present;
    const [value, setValue] = createSignal<Value | undefined>();
    const [moves, setMoves] = createSignal(0);
    const [kind, setKind] = createSignal<ReturnType<LiveParameter['kind']>>();
    const cell = { value, setValue, moves, setMoves, kind, setKind };
    cells.set(address, cell);
    return cell;
  };
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
  const put = (address: string, value: Value | undefined, isMove: boolean) => {
    if (!cells.has(address)) return; // a pattern may match more than its own address
    pending.set(address, value);
    if (isMove) moved.add(address);
    frame ||= requestAnimationFrame(flush);
  };
  const define = ({ address, type, access }: ParameterView) => {
    if (type && access) cells.get(address)?.setKind({ type, access });
  };

  createEffect(
    on([addresses, rate], ([wanted, timesPerSecond]) => {
      const names = [...new Set(wanted)];
      names.forEach(cellOf);
      const chunks: string[][] = [];
      for (let start = 0; start < names.length; start += addressesPerSelection)
        chunks.push(names.slice(start, start + addressesPerSelection));
      const complete = new Set<number>();
      setComplete(chunks.length === 0);
      const former = followed;
      followed = chunks.map((include, index) =>
        hub.select({ include, rate: timesPerSecond }).batches.subscribe({
          next({ defined, changes, removed, isComplete }) {
            batch(() => {
              defined.forEach(define);
              for (const address of removed) cells.get(address)?.setKind(undefined);
            });
            for (const { address, value } of changes) put(address, value, complete.has(index));
            for (const address of removed) put(address, undefined, false);
            if (isComplete && complete.add(index).size === chunks.length) setComplete(true);
          },
          error: () => {},
        }),
      );
      for (const subscription of former) subscription.unsubscribe(); // after the new ones, so that values which both have stay known
    }),
  );
  onCleanup(() => {
    cancelAnimationFrame(frame);
    for (const subscription of followed) subscription.unsubscribe();
  });
  return { of: cellOf, drop: (address) => cells.delete(address), isComplete };
}
