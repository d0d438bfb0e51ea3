// What the subjects of fan-outs share: a desk with one parameter, and how a contender's fan-out is measured.

import type { ServerProcess } from '../../spec/support/system/task-process.ts';
import type { Contender, Measurement } from '../harness/subject.ts';
import type { FanOutTask } from '../load/fan-out.ts';
import { loadContender } from './servers.ts';

export const deskFlow = { connections: { desk: { type: 'dummy', parameters: ['level,F'] } } };
export const levelAddress = 'desk/level';

/** Creates a contender whose fan-out is measured: `rate` counts deliveries, as `perBusySecond` does, `busyNs` is per change. */
export function fanOutContender(
  identity: Omit<Contender, 'measure' | 'start'>,
  task: Omit<FanOutTask, 'port' | 'serverPid'>,
  start: () => Promise<ServerProcess>,
): Contender {
  const contender = loadContender<FanOutTask>(identity, start, 'bench/load/fan-out.ts', task);
  const deliveriesOf = ({ rate, perBusySecond, ...figures }: Measurement): Measurement => ({
    ...figures,
    rate: rate! * task.sockets,
    perBusySecond: perBusySecond! * task.sockets,
  });
  return {
    ...identity,
    measure: async () => deliveriesOf(await contender.measure()),
    async start() {
      const { measure, stop } = await contender.start();
      return { stop, measure: async () => deliveriesOf(await measure()) };
    },
  };
}
