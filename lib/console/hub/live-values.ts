// Live values of many parameters at a limited rate, from subscriptions that each contain as many addresses as possible.

import { type Accessor, batch, createEffect, createSignal, on, onCleanup } from 'solid-js';
import type { Unsubscribable } from '../../client/index.ts';
import { createLiveCells, type LiveParameter } from './live-cells.ts';
import { hub } from './page-hub.ts';

/** The number of addresses of maximum length that fit into one subscription message. */
const addressesPerSelection = 190;

const unmarked = { wanted: undefined, about: undefined };

export interface LiveValues {
  of(address: string): LiveParameter;
  /** Drops the value of an address that is no longer followed. */
  drop(address: string): void;
  /** Whether the hub has sent everything that was requested. If an address then has no kind, there is no such parameter. */
  readonly isComplete: Accessor<boolean>;
}

/**
 * Follows the values at the addresses until the calling reactive scope is disposed, with at most `rate` updates per second. `onMoves`
 * receives the addresses that changed within one frame.
 */
export function createLiveValues(
  addresses: Accessor<readonly string[]>,
  rate: Accessor<number>,
  onMoves: (moved: ReadonlySet<string>) => void = () => {},
): LiveValues {
  const cells = createLiveCells(onMoves);
  const [isComplete, setComplete] = createSignal(false);
  let followed: readonly Unsubscribable[] = [];
  createEffect(
    on([addresses, rate], ([wanted, timesPerSecond]) => {
      const names = [...new Set(wanted)];
      names.forEach(cells.of);
      const chunks = chunksOf(names);
      const complete = new Set<number>();
      setComplete(chunks.length === 0);
      const former = followed;
      followed = chunks.map((include, index) => {
        const selection = hub.select({ include, rate: timesPerSecond });
        return selection.batches.subscribe({
          next({ removed, defined, changes, stale, fresh, marked, isComplete }) {
            batch(() => {
              for (const address of removed) cells.define(address, undefined);
              for (const { address, type, access } of defined)
                if (type && access) cells.define(address, { type, access });
              for (const address of [...removed, ...fresh]) cells.age(address, undefined);
              for (const address of [...removed, ...marked])
                cells.mark(address, selection.parameters.get(address) ?? unmarked);
              for (const address of stale) cells.age(address, selection.parameters.get(address)?.staleSince);
            });
            for (const address of removed) cells.put(address, undefined, false);
            for (const { address, value } of changes) cells.put(address, value, complete.has(index));
            if (isComplete && complete.add(index).size === chunks.length) setComplete(true);
          },
          error: () => {},
        });
      });
      for (const subscription of former) subscription.unsubscribe(); // after the new subscriptions, so that common values stay known
    }),
  );
  onCleanup(() => {
    for (const subscription of followed) subscription.unsubscribe();
  });
  return { of: cells.of, drop: cells.drop, isComplete };
}

function chunksOf(addresses: readonly string[]): string[][] {
  const chunks: string[][] = [];
  for (let start = 0; start < addresses.length; start += addressesPerSelection)
    chunks.push(addresses.slice(start, start + addressesPerSelection));
  return chunks;
}
