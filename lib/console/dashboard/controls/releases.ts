// Buttons that are true while they are held. Each press creates a pending release: false is written repeatedly until the hub has
// acknowledged the write, even if writes fail or the button is no longer shown.

/** The pause before a failed release is retried, in milliseconds. When the link is back, the release is retried immediately. */
export const releasePauseMs = 1000;

export interface Releases {
  /** Writes true to an address. Errors: any error from the write. */
  press(address: string): Promise<void>;
  /** Writes false to an address until the hub has acknowledged the write. */
  release(address: string): void;
  /** Immediately retries all pending releases that are not held, because the link is back. */
  retry(): void;
  /** The addresses with a pending release, whether held or not. */
  readonly pending: readonly string[];
}

interface ReleasesOptions {
  /** Sends one write to the hub. Errors: any error from the write. */
  readonly send: (address: string, isOn: boolean) => Promise<void>;
  /** Called when the list of pending releases has changed. */
  readonly changed: (pending: readonly string[]) => void;
  /** Called with the error if a button may still be on, and with undefined if the button is off or is held again. */
  readonly settled: (address: string, error: unknown) => void;
}

interface PendingRelease {
  isHeld: boolean;
  /** The number of writes so far. Only the response to the last write counts. */
  writes: number;
  pause: ReturnType<typeof setTimeout> | undefined;
}

/** Creates the releases of a page. `former` contains the addresses of pending releases from an earlier page in this tab. */
export function createReleases(former: readonly string[], { send, changed, settled }: ReleasesOptions): Releases {
  /**
   * The pending releases, keyed by address. Their number is limited by the number of pressed buttons, because an acknowledged release is
   * removed.
   */
  const pending = new Map<string, PendingRelease>(
    former.map((address) => [address, { isHeld: false, writes: 0, pause: undefined }] as const),
  );
  const notify = () => changed([...pending.keys()]);

  const deliver = async (address: string, entry: PendingRelease) => {
    clearTimeout(entry.pause);
    const own = ++entry.writes;
    try {
      await send(address, false);
      if (own !== entry.writes) return;
      pending.delete(address);
      settled(address, undefined);
      notify();
    } catch (error) {
      if (own !== entry.writes) return;
      settled(address, error);
      entry.pause = setTimeout(() => void deliver(address, entry), releasePauseMs);
    }
  };

  return {
    press(address) {
      const entry = pending.get(address) ?? { isHeld: true, writes: 0, pause: undefined };
      clearTimeout(entry.pause);
      entry.isHeld = true;
      entry.writes++;
      pending.set(address, entry);
      settled(address, undefined);
      notify(); // before the write, because the page may end in the meantime
      return send(address, true);
    },
    release(address) {
      const entry = pending.get(address);
      if (entry === undefined) return;
      entry.isHeld = false;
      void deliver(address, entry);
    },
    retry() {
      for (const [address, entry] of pending) if (!entry.isHeld) void deliver(address, entry);
    },
    get pending() {
      return [...pending.keys()];
    },
  };
}
