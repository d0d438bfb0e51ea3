// Has the memory of a core outlive the hub, where there is a store: latches, counters, edges, and timers with the time of day at
// which they began.

import type { Memory } from '../keeping.ts';
import type { Remembered } from './blocks/logic.ts';
import type { CoreSettings } from './settings.ts';
import type { Unit } from './unit.ts';

/** Recalls what the units remembered when the hub ended, and tells from now on what they remember. */
export function keepMemory(units: readonly Unit[], settings: CoreSettings, memory: Memory, now: number): void {
  const forgotten = new Set(memory.recalled.keys());
  for (const unit of units) {
    const { logic, name } = unit;
    const kind = kindOf(settings, name);
    const { remember, recall } = logic;
    if (remember === undefined || recall === undefined) continue;
    const recalled = readMemory(memory.recalled.get(name), kind, remember());
    if (recalled !== undefined) {
      forgotten.delete(name);
      recall(
        withTimes(recalled, (time) => memory.clockOf(time)),
        now,
      );
    }
    const read = () => ({ kind, ...withTimes(remember(), (time) => Math.round(memory.timeOf(time))) });
    unit.onStep = () => memory.changed(name, read);
  }
  for (const name of forgotten) memory.changed(name, () => undefined);
}

/** What an output is: one that has become another block remembers nothing of the one before. */
function kindOf({ outputs }: CoreSettings, name: string): string {
  const output = outputs[name]!;
  return output.block ?? (output as { type: string }).type;
}

/** The memory, if it is of such a block. */
function readMemory(data: unknown, kind: string, fresh: Remembered): Remembered | undefined {
  const { kind: its, outputs, edges, startedAt, ptMs } = (data ?? {}) as Partial<Remembered> & { kind?: string };
  const isOne =
    its === kind &&
    isLike(outputs, fresh.outputs) &&
    isLike(edges, fresh.edges) &&
    (startedAt === undefined || (Number.isFinite(startedAt) && Number.isFinite(ptMs)));
  return isOne ? { outputs: outputs!, edges: edges!, startedAt, ptMs } : undefined;
}

function isLike(list: unknown, fresh: readonly unknown[]): boolean {
  return (
    Array.isArray(list) &&
    list.length === fresh.length &&
    list.every((item, index) => typeof item === typeof fresh[index])
  );
}

function withTimes({ startedAt, ...others }: Remembered, convert: (time: number) => number): Remembered {
  return { ...others, startedAt: startedAt === undefined ? undefined : convert(startedAt) };
}
