// Keeps clients and values from flooding the log: each kind of entry is written at most once per second, with the number of occurrences.
// Every entry is counted.

/** The maximum number of kinds of entries that are distinguished within a second. Entries of all further kinds are counted together. */
const maxKinds = 100;

/**
 * Handles an entry. The first entry of a kind is written immediately; entries of the same kind that follow within a second are written as a
 * single entry at the end of that second. `count` is the number of entries of this kind since the last written entry.
 */
export type LogGate = (kind: string, write: (count: number) => void) => void;

interface Kind {
  openAtMs: number;
  /** The number of entries of this kind since the last written entry. */
  count: number;
  write: (count: number) => void;
}

/**
 * Creates a gate for a log. If there are too many kinds, calls `reportOthers` with the number of entries of all further kinds, so that this
 * number can be written.
 */
export function createLogGate(reportOthers: (count: number) => void, intervalMs = 1000): LogGate {
  /** The kinds, in the order in which they were first seen: at most `maxKinds`, and a kind with an empty name for all further kinds. */
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
    timer = setTimeout(open, Math.max(1, first.openAtMs - performance.now())).unref(); // a pending count must not keep the process alive
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

/** Returns the words for a number of occurrences at the end of a sentence, or an empty string for a single occurrence. */
export function timesText(count: number): string {
  return count > 1 ? ` (${count} times within a second)` : '';
}
