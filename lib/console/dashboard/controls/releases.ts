// Buttons that are true while they are held. Whoever presses one owes from then on that it goes off: false is written again and again
// until the hub has acknowledged it, whatever kept it from getting there, and also when the button is shown no more.

/** A release that has failed is tried again after this pause, or as soon as the link is back. */
export const releasePauseMs = 1000;

export interface Releases {
  /** Somebody presses: writes true. Errors: those of the write. */
  press(address: string): Promise<void>;
  /** Somebody lets go: writes false. */
  release(address: string): void;
  /** Tries everything at once that is owed and not held: the link is back. */
  retry(): void;
  /** What is owed, held or not. */
  readonly owed: readonly string[];
}

interface ReleasesOptions {
  /** Carries out one write. */
  readonly send: (address: string, isOn: boolean) => Promise<void>;
  /** What is owed is another list by now. */
  readonly changed: (owed: readonly string[]) => void;
  /** Hears why a button is not known to be off yet; undefined: it is off, or held anew. */
  readonly settled: (address: string, error: unknown) => void;
}

interface Debt {
  isHeld: boolean;
  /** Counts writes: the answer to an earlier one than the last says nothing any more. */
  writes: number;
  pause: ReturnType<typeof setTimeout> | undefined;
}

/** `owed` is what was owed before, such as by the page that this one has replaced. */
export function createReleases(owed: readonly string[], { send, changed, settled }: ReleasesOptions): Releases {
  /** Bounded by the buttons that somebody has pressed: an entry goes once the hub has acknowledged its release. */
  const debts = new Map<string, Debt>(
    owed.map((address) => [address, { isHeld: false, writes: 0, pause: undefined }] as const),
  );
  const notify = () => changed([...debts.keys()]);

  const pay = async (address: string, debt: Debt) => {
    clearTimeout(debt.pause);
    const own = ++debt.writes;
    try {
      await send(address, false);
      if (own !== debt.writes) return;
      debts.delete(address);
      settled(address, undefined);
      notify();
    } catch (error) {
      if (own !== debt.writes) return;
      settled(address, error);
      debt.pause = setTimeout(() => void pay(address, debt), releasePauseMs);
    }
  };

  return {
    press(address) {
      const debt = debts.get(address) ?? { isHeld: true, writes: 0, pause: undefined };
      clearTimeout(debt.pause);
      debt.isHeld = true;
      debt.writes++;
      debts.set(address, debt);
      settled(address, undefined);
      notify(); // before it is written: a page that ends meanwhile has owed it
      return send(address, true);
    },
    release(address) {
      const debt = debts.get(address);
      if (debt === undefined) return;
      debt.isHeld = false;
      void pay(address, debt);
    },
    retry() {
      for (const [address, debt] of debts) if (!debt.isHeld) void pay(address, debt);
    },
    get owed() {
      return [...debts.keys()];
    },
  };
}
