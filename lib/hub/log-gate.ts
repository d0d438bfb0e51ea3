// What clients or values can cause thousands of times a second does not flood the log: of each kind one entry per second,
// with how often it came. Nothing goes uncounted.

/** How many kinds are told apart within a second; what else comes is told together. */
const maxKinds = 100;

/**
 * Has an entry written: at once the first time that its kind comes, else with the count of all that came meanwhile when a
 * second has passed since the last one. `count` is how often it came since it was last written.
 */
export type LogGate = (kind: string, write: (count: number) => void) => void;

interface Kind {
  openAtMs: number;
  /** How often it came since it was last written. */
  count: number;
  write: (count: number) => void;
}

/** Creates a gate; `tellOthers` writes how many entries were of too many kinds. */
export function createLogGate(tellOthers: (count: number) => void, intervalMs = 1000): LogGate {
  /** In the order in which they open; at most `maxKinds` and the one for others, whose name is empty. */
  const kinds = new Map<string, Kind>();
  let timer: NodeJS.Timeout | undefined;
  const open = () => {
    timer = undefined;
    const nowMs = performance.now();
    for (const [name, kind] of kinds) {
      if (kind.openAtMs > nowMs) break;
      kinds.delete(name);
      if (kind.count === 0) continue;
      const { count, write } = kind;
      kinds.set(name, { openAtMs: nowMs + intervalMs, count: 0, write });
      write(count);
    }
    openLater();
  };
  const openLater = () => {
    const [first] = kinds.values();
    if (first === undefined || timer !== undefined) return;
    timer = setTimeout(open, Math.max(1, first.openAtMs - performance.now())).unref(); // no process waits for a count
  };
  return (name, write) => {
    let kind = kinds.get(name);
    if (kind === undefined && kinds.size >= maxKinds) {
      name = '';
      write = tellOthers;
      kind = kinds.get(name);
    }
    if (kind !== undefined) {
      kind.count++;
      kind.write = write;
      return;
    }
    kinds.set(name, { openAtMs: performance.now() + intervalMs, count: name === '' ? 1 : 0, write });
    openLater();
    if (name !== '') write(1);
  };
}

/** How often something came, for the end of a sentence; nothing when it came once. */
export function timesText(count: number): string {
  return count > 1 ? ` (${count} times within a second)` : '';
}
