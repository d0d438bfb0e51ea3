// Keeps a fault that repeats thousands of times a second from flooding the log: each text once per second.

const intervalMs = 1000;
const maxTexts = 1000;

/**
 * Creates a gate for log lines. It calls `write` at most once per second and text, with how often the text came since
 * the last time; it remembers at most 1000 texts.
 */
export function createLogGate(now: () => number): (text: string, write: (count: number) => void) => void {
  const gates = new Map<string, { openAt: number; count: number }>();
  return (text, write) => {
    const time = now();
    let gate = gates.get(text);
    if (gate === undefined) {
      if (gates.size >= maxTexts) gates.clear();
      gate = { openAt: time, count: 0 };
      gates.set(text, gate);
    }
    gate.count++;
    if (time < gate.openAt) return;
    write(gate.count);
    gate.count = 0;
    gate.openAt = time + intervalMs;
  };
}
