// Fan-out of `patchbay.v1` with the delivery `all`: one socket writes `set` messages, all sockets hear of every change. The
// relay takes and sends one message per change, as it does in plain-fan-out; each contender has the window that suits it.

import { startHub, startServer } from '../../spec/support/system/task-process.ts';
import { deskFlow, fanOutContender, levelAddress } from '../contenders/fan-out.ts';
import { missingNats, natsName, relayName, startNats } from '../contenders/servers.ts';
import type { Subject } from '../harness/subject.ts';

export const v1FanOut: Subject = {
  name: 'v1-fan-out',
  about:
    'patchbay.v1: one socket writes batches with ids, and every change goes to all sockets. The relay and NATS send a message per change',
  measures: ['lib/connections/rest-api/sockets', 'lib/graph', 'lib/net'],
  rounds: 5,
  async cases(options, folder) {
    const { v1Sockets, window, v1Window, natsWindow, warmUpMs, measureMs } = options;
    const missing = missingNats();
    return v1Sockets.map((sockets) => {
      const task = { address: levelAddress, sockets, warmUpMs, measureMs };
      return {
        name: `${sockets} sockets`,
        metrics: [
          {
            key: 'rate',
            title: 'deliveries/s',
            digits: 0,
            better: 'more',
            targets: [
              { against: relayName, atLeast: 4 },
              { against: natsName, atLeast: 1 },
            ],
          },
          { key: 'perBusySecond', title: 'deliveries per busy second of the server', digits: 0, better: 'more' },
          { key: 'busy', title: 'server busy, %', digits: 0 },
        ],
        contenders: [
          fanOutContender({ name: 'hub', role: 'hub' }, { ...task, dialect: 'v1', window: v1Window }, () =>
            startHub(deskFlow, folder, options),
          ),
          fanOutContender({ name: relayName, role: 'ceiling' }, { ...task, dialect: 'plain', window }, () =>
            startServer('bench/contenders/relay.ts', {}),
          ),
          ...(missing === undefined
            ? [
                fanOutContender(
                  { name: natsName, role: 'peer' },
                  { ...task, dialect: 'nats', window: natsWindow },
                  () => startNats(folder),
                ),
              ]
            : []),
        ],
        notes: missing === undefined ? [] : [missing],
      };
    });
  },
};
