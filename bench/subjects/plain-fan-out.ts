// Plain fan-out (design.md section 6): one socket writes `{"p":…,"v":…}`, all sockets hear of every change.

import { type ServerProcess, startHub, startServer } from '../process.ts';
import type { FanOutResult, FanOutTask } from '../processes/fan-out-load.ts';
import type { Contender, Subject } from '../subject.ts';
import { measureServer } from './servers.ts';

export const deskFlow = { connections: { desk: { type: 'dummy', parameters: ['level,F'] } } };
export const levelAddress = 'desk/level';

export const plainFanOut: Subject = {
  name: 'plain-fan-out',
  about: 'one socket writes, all sockets receive every change; the ceiling is a relay in raw uWebSockets.js',
  rounds: 5,
  async cases({ sockets, window, warmUpMs, measureMs, profileFolder }, folder) {
    const contender = (
      name: string,
      role: Contender['role'],
      count: number,
      start: () => Promise<ServerProcess>,
    ): Contender => ({
      name,
      role,
      async measure() {
        const { deliveries, elapsedMs, serverBusyMs } = await measureServer<FanOutResult>(
          start,
          'fan-out-load',
          ({ port, pid }): FanOutTask => ({
            port,
            serverPid: pid,
            address: levelAddress,
            sockets: count,
            window,
            warmUpMs,
            measureMs,
          }),
        );
        return {
          rate: (deliveries / elapsedMs) * 1000,
          perBusySecond: (deliveries / serverBusyMs) * 1000,
          busy: (serverBusyMs / elapsedMs) * 100,
        };
      },
    });
    return sockets.map((count) => ({
      name: `${count} sockets`,
      metrics: [
        { key: 'rate', title: 'deliveries/s', digits: 0 },
        { key: 'perBusySecond', title: 'deliveries per busy second of the server', digits: 0 },
        { key: 'busy', title: 'server busy, %', digits: 0 },
      ],
      contenders: [
        contender('hub', 'hub', count, () => startHub(deskFlow, folder, profileFolder)),
        contender('raw uWebSockets.js', 'ceiling', count, () => startServer('relay', {})),
      ],
    }));
  },
};
