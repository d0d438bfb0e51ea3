// Virtual Core: logic without code (D-25). Its parameters are computed from inputs and from each other, by expressions and by the
// function blocks of IEC 61131-3, once per turn. An output is set once everything that it reads is known, and keeps its last
// value when it cannot be computed.

import { Observable, type Subscriber, Subscription } from 'rxjs';
import { messageOf } from '../../model/error.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType } from '../connection.ts';
import { createAlarm } from './blocks/alarm.ts';
import { Engine } from './engine.ts';
import { keepMemory } from './keep-memory.ts';
import { followInputs, parametersOf } from './names.ts';
import { compile } from './program.ts';
import { type CoreSettings, settingsSchema } from './settings.ts';
import { createStartClock } from './start-clock.ts';

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
      const reason = messageOf(error).split('\n', 1)[0];
      log.warn({ output }, `output "${output}" failed and keeps its last value: ${reason}`, `output ${output}`);
    },
  });
  const running = new Subscription();
  const clock = memory === undefined ? () => scheduler.now() : createStartClock(scheduler, running);
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
