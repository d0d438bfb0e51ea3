// The studio: 100 parameters, 60 rules and 100 dashboards, held against what a developer would write by hand, and against Node-RED.

import { join } from 'node:path';
import { type ServerProcess, startHub, startServer } from '../../spec/support/system/task-process.ts';
import { missingNodeRed, startNodeRed } from '../contenders/node-red.ts';
import { loadContender, measureServer, waitedMetric } from '../contenders/servers.ts';
import type { Options } from '../harness/options.ts';
import type { Case, Contender, Metric, Role, Subject } from '../harness/subject.ts';
import type { StudioLoad } from '../load/dialects/studio.ts';
import type { FanOutTask } from '../load/fan-out.ts';
import { type StudioName, studioFlow, studios } from '../load/flows/studio.ts';
import type { LatencyResult, LatencyTask } from '../load/latency.ts';

const byHand = 'list by hand';
const withoutStore = 'the same hub without a store';
const nodeRedName = 'Node-RED';
/**
 * How many writes are under way, and how many a message has where there are several: all of them are less than 64 KiB, and a message has each
 * source once.
 */
const writesUnderWay = 1040;
const writesPerMessage = 40;
const evenRate = 2000;
/** What is measured at an even rate is measured for longer: the slowest hundredth of the writes is few. */
const tailFactor = 4;

type Start = (studio: StudioName) => Promise<ServerProcess>;
type Talk = Pick<StudioLoad, 'dialect' | 'path' | 'writesPerMessage'>;

const lists: Talk = { dialect: 'lists', path: '/ws?list=true', writesPerMessage: 1 };
const handLists: Talk = { ...lists, path: '/ws' };
const plain: Talk = { dialect: 'frames', path: '/ws', writesPerMessage: 1 };
const v1: Talk = { dialect: 'v1', path: '/ws', writesPerMessage };
const several = (talk: Talk): Talk => ({ ...talk, writesPerMessage });
const single = (talk: Talk): Talk => ({ ...talk, writesPerMessage: 1 });

/** Who is measured, and how it is talked to. */
interface Side {
  readonly name: string;
  readonly start: Start;
  readonly talk: Talk;
}

export const studio: Subject = {
  name: 'studio',
  about:
    '100 parameters, 60 rules and 100 dashboards; every change is checked at each dashboard; compared with a handwritten list in uWebSockets.js',
  measures: ['lib/connections/rest-api/sockets', 'lib/connections/store', 'lib/graph', 'lib/flow/run', 'lib/net'],
  rounds: 5,
  async cases(options, folder) {
    const { isQuick } = options;
    const [many, few] = isQuick ? [10, 2] : [100, 10];
    const start: Start = (name) => startHub(studioFlow(studios[name]), folder, options);
    const startStored: Start = async (name) => {
      const { connections, rules } = studioFlow(studios[name]);
      const store = { type: 'store', folder: join(folder, `data-${Date.now()}`), maxSize: '2GB' };
      const server = await startHub({ connections: { ...connections, store }, rules }, folder, options);
      return { ...server, stop: () => server.stop(true) };
    };
    const hub = (talk: Talk): Side => ({ name: 'hub', start, talk });
    const stored: Side = { name: 'hub', start: startStored, talk: lists };
    const unstored: Side = { name: withoutStore, start, talk: lists };
    const startHand: Start = (name) => startServer('bench/contenders/list-by-hand.ts', { studio: name });
    const hand = (talk = handLists): Side => ({ name: byHand, start: startHand, talk });
    const missing = isQuick ? undefined : missingNodeRed();
    const startRed: Start = (name) => startNodeRed(studios[name], folder);
    const red: Side = { name: nodeRedName, start: startRed, talk: { ...plain, dialect: 'any order' } };

    const compare = (name: string, metrics: (against: string) => readonly Metric[], sides: readonly Contender[]) => {
      return { name, metrics: metrics(sides[1]!.name), contenders: sides } satisfies Case;
    };
    const rates = (name: string, ours: Side, ceiling: Side, atLeast: number | undefined): Case =>
      compare(
        `${name}, maximum write rate`,
        (against) => [
          {
            ...{ key: 'rate', title: 'writes/s', digits: 0, better: 'more' },
            ...(atLeast !== undefined && { targets: [{ against, atLeast }] }),
          } satisfies Metric,
          { key: 'busy', title: 'server busy, %', digits: 0 },
        ],
        [writing(ours, 'hub', 'studio', many, options), writing(ceiling, 'ceiling', 'studio', many, options)],
      );
    const costs = (name: string, ours: Side, ceiling: Side, atMost?: number): Case =>
      compare(
        `${name}, ${few} dashboards, 2,000 writes/s`,
        (against) => [
          {
            ...{ key: 'cost', title: 'CPU s per 100,000 writes', digits: 2, better: 'less' },
            ...(atMost !== undefined && { targets: [{ against, atMost }] }),
          } satisfies Metric,
        ],
        [even(ours, 'hub', few, options), even(ceiling, 'ceiling', few, options)],
      );
    const all = rates('lists', hub(lists), hand(), 1);
    const peers =
      missing === undefined && !isQuick ? [{ ...writing(red, 'peer', 'studio', many, options, 16), rounds: 1 }] : [];
    return [
      { ...all, contenders: [...all.contenders, ...peers], notes: missing === undefined ? [] : [missing] },
      rates(`lists, ${writesPerMessage} writes a message`, hub(several(lists)), hand(several(handLists)), 1),
      rates('patchbay.v1', hub(v1), hand(), 1.3),
      rates('plain', hub(plain), hand(), undefined),
      rates('lists, with a store', stored, unstored, 0.9),
      compare(
        '1,000 rules on one source',
        (against) => [
          {
            ...{ key: 'perWrite', title: 'ms a write', digits: 2, better: 'less' },
            targets: [{ against, atMost: 1.2 }],
          } satisfies Metric,
        ],
        [
          writing(hub(lists), 'hub', 'one source', 1, options, 32),
          writing(hand(), 'ceiling', 'one source', 1, options, 32),
        ],
      ),
      compare(
        `lists, ${many} dashboards, 2,000 writes/s`,
        (against) => [
          ...(['p50', 'p99'] as const).map(
            (key): Metric => ({
              ...{ key, title: `${key}, ms`, digits: 2, better: 'less' },
              targets: [{ against, atMost: 1.1 }],
            }),
          ),
          waitedMetric,
        ],
        [even(hub(lists), 'hub', many, options), even(hand(), 'ceiling', many, options)],
      ),
      costs('lists', hub(lists), hand()),
      costs('patchbay.v1', hub(single(v1)), hand()),
      costs('plain', hub(plain), hand()),
      costs('lists, with a store', stored, unstored, 1.15),
    ];
  },
};

/** As many writes as a server takes: `rate`, `busy`, and `perWrite` in ms. */
function writing(
  { name, start, talk }: Side,
  role: Role,
  whose: StudioName,
  sockets: number,
  { warmUpMs, measureMs }: Options,
  window = writesUnderWay,
): Contender {
  const shared = { dialect: 'plain', address: '', sockets, window, warmUpMs, measureMs } as const;
  const task = { ...shared, studio: { name: whose, ...talk } };
  const contender = loadContender<FanOutTask>({ name, role }, () => start(whose), 'bench/load/fan-out.ts', task);
  return {
    name,
    role,
    async measure() {
      const { rate, busy } = await contender.measure();
      return { rate: rate!, busy: busy!, perWrite: 1000 / rate! };
    },
  };
}

/**
 * Writes at an even rate: how long it takes until all that follows from one has arrived at each dashboard, and `cost`, the seconds of all
 * threads of the server for 100,000 writes.
 */
function even({ name, start, talk }: Side, role: Role, sockets: number, { warmUpMs, measureMs }: Options): Contender {
  return {
    name,
    role,
    async measure() {
      const { p50, p99, waited, busyMsPerChange } = await measureServer<LatencyResult>(
        () => start('studio'),
        'bench/load/latency.ts',
        ({ port, pid }): LatencyTask => ({
          ...{ port, serverPid: pid, address: '', sockets, changesPerSecond: evenRate, warmUpMs },
          measureMs: measureMs * tailFactor,
          studio: { name: 'studio', ...talk },
        }),
      );
      return { p50, p99, waited, cost: busyMsPerChange * 100 };
    },
  };
}
