// Plain ingest: one socket writes `{"p":…,"v":…}` as fast as it is taken, and hears of it or does not.

import { type ServerProcess, startHub, startServer } from '../../spec/support/system/task-process.ts';
import { levelAddress } from '../contenders/fan-out.ts';
import type { RelayTask } from '../contenders/relay.ts';
import { loadContender, relayName } from '../contenders/servers.ts';
import type { Contender, Subject } from '../harness/subject.ts';
import type { IngestTask } from '../load/ingest.ts';

const flow = { connections: { desk: { type: 'dummy', parameters: ['level,F', 'mark,F'] } } };
/** What a load of an ingest sets after each batch that nobody hears. */
export const markAddress = 'desk/mark';

export const plainIngest: Subject = {
  name: 'plain-ingest',
  about: 'one socket writes; the ceiling is a relay in raw uWebSockets.js, which publishes each message unchanged',
  measures: ['lib/connections/rest-api/sockets', 'lib/graph', 'lib/net'],
  rounds: 5,
  async cases(options, folder) {
    const { warmUpMs, measureMs } = options;
    const task = { address: levelAddress, warmUpMs, measureMs };
    const contender = (
      name: string,
      role: Contender['role'],
      target: Pick<IngestTask, 'isHeard' | 'readsBack' | 'markAddress'>,
      start: () => Promise<ServerProcess>,
    ) => loadContender<IngestTask>({ name, role }, start, 'bench/load/ingest.ts', { ...task, ...target });
    return [true, false].map((isHeard) => ({
      name: isHeard ? 'the writer hears every change' : 'nobody hears of it',
      metrics: [
        {
          key: 'rate',
          title: 'messages/s',
          digits: 0,
          better: 'more',
          targets: [{ against: relayName, atLeast: 0.6 }],
        },
        { key: 'busy', title: 'server busy, %', digits: 0 },
      ],
      contenders: [
        contender('hub', 'hub', { isHeard, readsBack: true, markAddress }, () => startHub(flow, folder, options)),
        contender(relayName, 'ceiling', { isHeard, readsBack: false }, () =>
          startServer('bench/contenders/relay.ts', { isHeard } satisfies RelayTask),
        ),
      ],
    }));
  },
};
