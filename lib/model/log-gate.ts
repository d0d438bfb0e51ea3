// Keeps the log from being flooded by what clients or values cause thousands of times a second: each kind of entry is written
// once a second at most, with how often it came. Every entry is counted.

/** How many kinds are told apart within a second; all further kinds are counted together. */
const maxKinds = 100;

/**
 * Takes an entry. The first of its kind is written at once; those that follow within a second are written as one, at the end of
 * that second. `count` is how often the kind came since it was last written.
 */
export type LogGate = (kind: string, write: (count: number) => void) => void;

interface Kind {
  openAtMs: number;
  /** How often it came since it was last written. */
  count: number;
  write: (count: number) => void;
}

/** Creates a gate; `tellOthers` writes how many entries were of further kinds. */
export function createLogGate(reportOthers: (count: number) => void, intervalMs = 1000): LogGate {
  /** In the order in which they open: at most `maxKinds`, and one with an empty name for all further kinds. */
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
      write = reportOthers;
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

/** How often something came, for the end of a sentence; empty if it came once. */
export function timesText(count: number): string {
  return count > 1 ? ` (${count} times within a second)` : '';
}
