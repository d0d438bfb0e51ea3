// Ingest over `patchbay.v1`: one socket writes 1,000 parameters per message, one turn each, as fast as they are acknowledged.

import { plantOf } from '../../spec/support/load/many-parameters.ts';
import { startHub } from '../../spec/support/system/task-process.ts';
import { loadContender } from '../contenders/servers.ts';
import type { Subject } from '../harness/subject.ts';
import type { V1IngestTask } from '../load/v1-ingest.ts';

const parameters = 1000;
const targetPerSecond = 1_500_000;

export const v1Ingest: Subject = {
  name: 'v1-ingest',
  about: 'patchbay.v1: one socket sets 1,000 parameters with each message; 8 messages in flight',
  measures: ['lib/connections/rest-api/sockets', 'lib/graph', 'lib/net'],
  rounds: 5,
  async cases(options, folder) {
    const { warmUpMs, measureMs } = options;
    return [true, false].map((isById) => ({
      name: isById ? 'by id' : 'by address',
      metrics: [
        {
          key: 'rate',
          title: 'changes/s',
          digits: 0,
          better: 'more',
          targets: isById ? [{ atLeast: targetPerSecond }] : [],
        },
        { key: 'perBusySecond', title: 'changes per busy second of the hub', digits: 0, better: 'more' },
      ],
      contenders: [
        loadContender<V1IngestTask>(
          { name: 'hub', role: 'hub' },
          () => startHub(plantOf(parameters), folder, options),
          'bench/load/v1-ingest.ts',
          { parameters, isById, warmUpMs, measureMs },
        ),
      ],
    }));
  },
};
