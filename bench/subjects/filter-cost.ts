// What filters cost: changes of one parameter of 10,000, that one of 1, 100 or 1,000 different subscriptions lets through.

import { connectionId, parameterIdOf, plantOf } from '../../spec/support/load/many-parameters.ts';
import { startHub } from '../../spec/support/system/task-process.ts';
import { fanOutContender } from '../contenders/fan-out.ts';
import type { Subject } from '../harness/subject.ts';
import type { FanOutTask } from '../load/fan-out.ts';

const parameters = 10_000;
const flow = plantOf(parameters);

export const filterCost: Subject = {
  name: 'filter-cost',
  about:
    'processor time of the hub per change to one of 10,000 parameters, which only one of many different subscriptions matches',
  measures: ['lib/connections/rest-api/sockets', 'lib/graph', 'lib/net', 'lib/connections/rest-api/filters'],
  rounds: 5,
  async cases(options, folder) {
    const { filters, window, v1Window, warmUpMs, measureMs } = options;
    const [least = 1, ...more] = filters;
    const contender = (dialect: FanOutTask['dialect'], count: number, role: 'hub' | 'ceiling') =>
      fanOutContender(
        { name: role === 'hub' ? 'hub' : nameOf(count), role },
        {
          dialect,
          address: `${connectionId}/${parameterIdOf(0)}`,
          sockets: 1,
          bystanders: count - 1,
          isFiltered: true,
          window: dialect === 'plain' ? window : v1Window,
          warmUpMs,
          measureMs,
        },
        () => startHub(flow, folder, options),
      );
    return (['plain', 'v1'] as const).flatMap((dialect) =>
      more.map((count) => ({
        name: `${dialect}, ${nameOf(count)}`,
        metrics: [
          {
            key: 'busyNs',
            title: 'ns of processor time per change',
            digits: 0,
            better: 'less',
            targets: [{ against: nameOf(least), atMost: 1.5 }],
          },
        ],
        contenders: [contender(dialect, count, 'hub'), contender(dialect, least, 'ceiling')],
      })),
    );
  },
};

function nameOf(filters: number): string {
  return filters === 1 ? '1 filter' : `${filters.toLocaleString('en')} filters`;
}
