// What the subjects of fan-outs share: a desk with one parameter, and how a contender's fan-out is measured.

import type { Measured } from '../load/measuring-window.ts';
import type { ServerProcess } from '../process.ts';
import type { FanOutTask } from '../processes/fan-out-load.ts';
import type { Contender } from '../subject.ts';
import { measureServer } from './servers.ts';

export const deskFlow = { connections: { desk: { type: 'dummy', parameters: ['level,F'] } } };
export const levelAddress = 'desk/level';

/** Creates a contender that is started anew each round; its figures: `rate`, `perBusySecond`, `busy` (%), `busyNs` per change. */
export function fanOutContender(
  identity: Omit<Contender, 'measure'>,
  task: Omit<FanOutTask, 'port' | 'serverPid'>,
  start: () => Promise<ServerProcess>,
): Contender {
  return {
    ...identity,
    async measure() {
      const { done, elapsedMs, serverBusyMs } = await measureServer<Measured>(
        start,
        'fan-out-load',
        ({ port, pid }): FanOutTask => ({ ...task, port, serverPid: pid }),
      );
      const deliveries = done * task.sockets;
      return {
        rate: (deliveries / elapsedMs) * 1000,
        perBusySecond: (deliveries / serverBusyMs) * 1000,
        busy: (serverBusyMs / elapsedMs) * 100,
        busyNs: (serverBusyMs * 1e6) / done,
      };
    },
  };
}
