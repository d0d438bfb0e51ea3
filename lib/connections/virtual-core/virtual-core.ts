// Virtual Core: soft logic. Read-only parameters computed by expressions and by the function blocks of IEC 61131-3, over
// inputs and each other, in dependency order, once per turn (design.md section 4). Nothing is set before all it needs is
// known; what cannot be computed keeps its last value.

import { Observable, Subscription } from 'rxjs';
import { messageOf } from '../../model/error.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType } from '../connection.ts';
import { Engine } from './engine.ts';
import { followInputs, parametersOf } from './names.ts';
import { compile } from './program.ts';
import { type CoreSettings, settingsSchema } from './settings.ts';

/** How often the faults of one output are logged at most. */

export const virtualCore = defineConnectionType({
  type: 'virtual-core',
  isExternal: false,
  settingsSchema,
  parameters: (settings) => Object.entries(settings.outputs).flatMap(([name, output]) => parametersOf(name, output)),
  inputs: (settings) => settings.inputs,
  follows: followInputs,
  mistakes: (settings, inputTypes) => compile(settings, inputTypes).mistakes,
  run: (context) => new Observable((subscriber) => runCore(context, subscriber)),
});

interface Listener {
  readonly closed: boolean;
  next(event: ConnectionEvent): void;
  error(error: unknown): void;
}

function runCore(context: ConnectionContext<CoreSettings>, subscriber: Listener): Subscription {
  const { scheduler, log } = context;
  const { inputs, units } = compile(context.settings, context.inputTypes);
  const engine = new Engine(units, {
    onSet: (name, value, because) => subscriber.next({ set: name, value, because }),
    onFault: (output, error) => {
      const reason = messageOf(error).split('\n', 1)[0];
      log.warn({ output }, `output "${output}" failed and keeps its last value: ${reason}`, `output ${output}`);
    },
  });
  const alarm = createAlarm(context, () => {
    engine.wake(scheduler.now());
    evaluateSoon();
  });
  const evaluateSoon = context.atSettle(() => {
    if (subscriber.closed) return;
    try {
      engine.evaluate(scheduler.now());
      alarm.setTo(engine.nextWakeAt);
    } catch (error) {
      subscriber.error(error);
    }
  });
  const running = new Subscription(alarm.clear);
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

/** One action of the scheduler at a time, at the earliest moment at which something has to be done. */
function createAlarm({ scheduler }: ConnectionContext<CoreSettings>, ring: () => void) {
  let action = Subscription.EMPTY;
  let dueAt = Infinity;
  return {
    setTo(time: number): void {
      if (time === dueAt) return;
      action.unsubscribe();
      dueAt = time;
      if (time === Infinity) return;
      const delayMs = Math.max(0, Math.ceil(time - scheduler.now())); // clocks wake in whole milliseconds, never early
      action = scheduler.schedule(() => {
        dueAt = Infinity;
        ring();
      }, delayMs);
    },
    clear: () => action.unsubscribe(),
  };
}
