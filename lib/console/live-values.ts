// Live values of many parameters at a bounded rate: what has come is told together, once per frame of the screen, so that a
// page with hundreds of values that change does its work once and not thousands of times a second.

import { type Accessor, batch, createEffect, createSignal, on, onCleanup, type Setter } from 'solid-js';
import type { ParameterView, Unsubscribable, Value, ValueType } from '../client/index.ts';
import type { Access } from '../model/parameter.ts';
import { hub } from './hub.ts';

/** As many patterns of the longest addresses fit into one message of subscription. */
const addressesPerSelection = 190;

export interface LiveParameter {
  /** undefined: unknown. A trigger that has fired: 1. */
  readonly value: Accessor<Value | undefined>;
  /** Counts changes and fires from then on when the present value was known: what to move for. */
  readonly moves: Accessor<number>;
  /** What kind of parameter it is; undefined: there is none of this address, or the hub has not said so yet. */
  readonly kind: Accessor<{ readonly type: ValueType; readonly access: Access } | undefined>;
}

export interface LiveValues {
  of(address: string): LiveParameter;
  /** Forgets an address that is no longer asked for. */
  drop(address: string): void;
  /** Whether all that was asked for has come: who has no kind then does not exist. */
  readonly isComplete: Accessor<boolean>;
}

interface Cell extends LiveParameter {
  readonly setValue: Setter<Value | undefined>;
  readonly setMoves: Setter<number>;
  readonly setKind: Setter<{ readonly type: ValueType; readonly access: Access } | undefined>;
}

/**
 * Follows what `addresses` says, for as long as the scope that calls it lives, at most `rate` times a second. `onMoves` hears
 * of those that have moved together.
 */
export function createLiveValues(
  addresses: Accessor<readonly string[]>,
  rate: Accessor<number>,
  onMoves: (moved: ReadonlySet<string>) => void = () => {},
): LiveValues {
  const cells = new Map<string, Cell>(); // bounded by the addresses that were asked for and not dropped
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
      for (const subscription of former) subscription.unsubscribe(); // afterwards, so that what both have stays known
    }),
  );
  onCleanup(() => {
    cancelAnimationFrame(frame);
    for (const subscription of followed) subscription.unsubscribe();
  });
  return { of: cellOf, drop: (address) => cells.delete(address), isComplete };
}
