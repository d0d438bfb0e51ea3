// The connection type `virtual-core`: logic without code (D-25). Its parameters are computed from inputs and from each other, with
// expressions and IEC 61131-3 function blocks, once per turn. An output is set as soon as all values that it reads are known. If it cannot
// be computed, it keeps its last value.
import { Observable, type SchedulerLike, type Subscriber, Subscription } from 'rxjs';
import { explainFailure } from '../../expression/expression.ts';
import { messageOf } from '../../model/error.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType } from '../connection.ts';
import type { Memory } from '../persistence.ts';
import { createAlarm, type Remembered } from './blocks/logic.ts';
import { Engine, type Unit } from './core-engine.ts';
import { compile, followInputs, parametersOf } from './program.ts';
import { type CoreSettings, settingsSchema } from './settings.ts';

export const virtualCore = defineConnectionType({
  type: 'virtual-core',
  isExternal: false,
  settingsSchema,
  durations: ['pt'],
  parameters: (settings) => Object.entries(settings.outputs).flatMap(([name, output]) => parametersOf(name, output)),
  inputs: (settings) => settings.inputs,
  follows: followInputs,
  mistakes: (settings, inputTypes) => compile(settings, inputTypes).mistakes,
  run: (context) => new Observable((subscriber) => runCore(context, subscriber)),
});

function runCore(context: ConnectionContext<CoreSettings>, subscriber: Subscriber<ConnectionEvent>): Subscription {
  const { scheduler, log, memory } = context;
  const { inputs, units } = compile(context.settings, context.inputTypes);
  for (const { gives } of units) for (const cell of gives) cell.own = context.own(cell.name);
  const engine = new Engine(units, {
    onSet: ({ name, own }, value, because) => subscriber.next({ set: name, own, value, because }),
    onFault: (output, error) => {
      const reason = messageOf(explainFailure(error)).split('\n', 1)[0];
      log.warn({ output }, `output "${output}" failed and keeps its last value: ${reason}`, `output ${output}`);
    },
  });
  const running = new Subscription();
  const clock = memory?.recalled.size ? createStartClock(scheduler, running) : () => scheduler.now();
  if (memory !== undefined) keepMemory(units, context.settings, memory, clock());
  const alarm = createAlarm(scheduler, () => {
    engine.wake(clock());
    evaluateSoon();
  });
  const evaluateSoon = context.atSettle(() => {
    if (subscriber.closed) return;
    try {
      engine.evaluate(clock());
      alarm.setTo(engine.nextWakeAt);
    } catch (error) {
      subscriber.error(error);
    }
  });
  running.add(alarm.clear);
  let isLive = false;
  for (const [name, cell] of inputs)
    running.add(
      context.input(name).subscribe({
        next: (value) => {
          if (value === undefined) return;
          engine.put(cell, value, context.lastChange(name));
          if (isLive) evaluateSoon();
        },
        error: (error) => subscriber.error(error),
      }),
    );
  isLive = true;
  subscriber.next({ state: 'running' });
  evaluateSoon();
  return running;
}

// Preserves the state of a core across restarts of the hub, if there is a store: latches, counters, edges, and timers with the time of day
// at which they were started.

/** Restores the state that the units had when the hub ended, and from then on stores changes in their state. */
function keepMemory(units: readonly Unit[], settings: CoreSettings, memory: Memory, now: number): void {
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
    memory.changed(name, read);
    unit.onStep = () => {
      if (memory.isKept) memory.changed(name, read);
    };
  }
  for (const name of forgotten) memory.changed(name, () => undefined);
}

/** Returns a string that identifies the kind of an output. If an output has another block than before, it does not restore its state. */
function kindOf({ outputs }: CoreSettings, name: string): string {
  const output = outputs[name]!;
  return output.block ?? (output as { type: string }).type;
}

/** Parses a stored state. Returns undefined if the state was stored for another kind of output. */
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

// A clock that stands still until all connections and rules have started, so that no restored timer ends before they are listening.

function createStartClock(scheduler: SchedulerLike, running: Subscription): () => number {
  const startedAt = scheduler.now();
  let isStarting = true;
  running.add(
    scheduler.schedule(() => {
      isStarting = false;
    }),
  );
  return () => (isStarting ? startedAt : scheduler.now());
}
