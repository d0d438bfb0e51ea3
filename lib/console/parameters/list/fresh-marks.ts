// Marks rows whose value has just changed, and takes each mark off again after a while.

import { onCleanup } from 'solid-js';

/** How long a value stays marked after its last change. */
const freshMs = 1500; // longer than the pause between two changes that are drawn calmly

export interface FreshMarks {
  mark(addresses: Iterable<string>): void;
  /** Forgets an address that is no longer in view. */
  drop(address: string): void;
}

/** Tells `setFresh` of marks that come and go, for the scope that calls it. */
export function createFreshMarks(setFresh: (address: string, isFresh: boolean) => void): FreshMarks {
  /** Until when addresses stay marked. The next to fade comes first. Bounded by the rows in view. */
  const marked = new Map<string, number>();
  let fading: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(fading));
  const fade = () => {
    fading = undefined;
    const now = performance.now();
    for (const [address, until] of marked) {
      if (until > now) {
        fading = setTimeout(fade, until - now);
        return;
      }
      marked.delete(address);
      setFresh(address, false);
    }
  };
  return {
    mark(addresses) {
      const until = performance.now() + freshMs;
      for (const address of addresses) {
        marked.delete(address); // so that it is last when it is set
        marked.set(address, until);
        setFresh(address, true);
      }
      fading ??= setTimeout(fade, freshMs);
    },
    drop: (address) => marked.delete(address),
  };
}
