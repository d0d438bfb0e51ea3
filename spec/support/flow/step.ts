// Runs one step by itself in virtual time: what comes in at which time, and what comes out of it.

import { Subject } from 'rxjs';
import type { StepRuntime } from '../../../lib/flow/steps/step.ts';
import { stepTypes } from '../../../lib/flow/steps/steps.ts';
import { HubError } from '../../../lib/model/error.ts';
import { Ledger } from '../../../lib/model/held-bytes.ts';
import type { Value, ValueType } from '../../../lib/model/value.ts';
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts';

export type Timed = readonly [atMs: number, value: Value];

/** What comes out until a time, and how often the step told of a limit. */
export function runStep(
  name: string,
  setting: unknown,
  values: readonly Timed[],
  untilMs: number,
  { type: valueType = 'F' as ValueType, ledger = new Ledger(Number.POSITIVE_INFINITY) } = {},
) {
  const type = stepTypes.get(name)!;
  const none = () => {
    throw new HubError('bad-flow', 'there are no expressions and no steps here');
  };
  const step = type.prepare(type.setting.parse(setting), { type: valueType, compile: none, prepare: none });
  const clock = new VirtualClock();
  const limits: string[] = [];
  const runtime: StepRuntime = {
    scheduler: clock,
    causalScheduler: clock,
    bind: none,
    overflow: (message) => void limits.push(message),
    causeBytes: () => 0,
    open: (letGo) => ledger.open({ kind: 'steps', owner: name, letGo }),
  };
  const input = new Subject<Value>();
  const out: Timed[] = [];
  const running = step
    .create(runtime)(input)
    .subscribe((value) => void out.push([clock.now(), value]));
  for (const [atMs, value] of values) {
    clock.advanceTo(atMs);
    input.next(value);
  }
  clock.advanceTo(untilMs);
  running.unsubscribe();
  return { out, limits };
}
