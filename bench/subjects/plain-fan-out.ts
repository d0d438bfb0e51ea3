// Plain fan-out: one socket writes `{"p":…,"v":…}`, all sockets hear of every change.

import { startHub, startServer } from '../../spec/support/system/task-process.ts';
import { deskFlow, fanOutContender, levelAddress } from '../contenders/fan-out.ts';
import { missingNats, natsName, relayName, startNats } from '../contenders/servers.ts';
import type { Contender, Subject } from '../harness/subject.ts';

/** At so many sockets peers are measured as well, at others they are too slow to wait for. */
const peerSockets = 1000;
const peerRounds = 3;

export const plainFanOut: Subject = {
  name: 'plain-fan-out',
  about: 'one socket writes, all sockets receive every change; the ceiling is a relay in raw uWebSockets.js',
  measures: ['lib/connections/rest-api/sockets', 'lib/graph', 'lib/net'],
  rounds: 5,
  async cases(options, folder) {
    const { sockets, window, natsWindow, warmUpMs, measureMs } = options;
    return sockets.map((count) => {
      const task = { dialect: 'plain', address: levelAddress, sockets: count, window, warmUpMs, measureMs } as const;
      const contenders = [
        fanOutContender({ name: 'hub', role: 'hub' }, task, () => startHub(deskFlow, folder, options)),
        fanOutContender({ name: relayName, role: 'ceiling' }, task, () => startServer('bench/contenders/relay.ts', {})),
      ];
      const hasPeers = count === peerSockets || sockets.length === 1;
      const missing = hasPeers ? missingNats() : undefined;
      if (hasPeers) {
        const peer = (name: string) => ({ name, role: 'peer', rounds: peerRounds }) as const;
        contenders.push(fanOutContender(peer('ws'), task, () => startServer('bench/contenders/ws-relay.ts', {})));
        if (missing === undefined)
          contenders.push(
            fanOutContender(peer(natsName), { ...task, dialect: 'nats', window: natsWindow }, () => startNats(folder)),
          );
      }
      return {
        name: `${count} sockets`,
        metrics: [
          {
            key: 'rate',
            title: 'deliveries/s',
            digits: 0,
            better: 'more',
            targets: [{ against: relayName, atLeast: 0.95 }],
          },
          { key: 'perBusySecond', title: 'deliveries per busy second of the server', digits: 0, better: 'more' },
          { key: 'busy', title: 'server busy, %', digits: 0 },
        ],
        contenders: contenders satisfies Contender[],
        notes: missing === undefined ? [] : [missing],
      };
    });
  },
};
