// A hub with devices of which half do not work: what the others, and the clients of the hub, notice of them.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inTemporaryFolder } from '../../spec/support/folder.ts';
import type { NeighboursResult, NeighboursTask } from '../../spec/support/load/neighbours.ts';
import { busyMsOfAll } from '../../spec/support/system/process-usage.ts';
import { startHub, startTask } from '../../spec/support/system/task-process.ts';
import type { Contender, Measurement, Subject } from '../harness/subject.ts';
import type { PeerPorts } from '../load/device-peers.ts';

const withoutDead = 'the same hub without them';
/** What is written at `desk` returns through its device; twenty clients hear it. */
const clients = 20;
const desk = {
  about: 'A device that confirms each write',
  frame: { end: '\n' },
  parameters: {
    'neighbour/{n:0..19}': { type: 'F', on: 'VAL {n:int} {value:float}', write: { send: 'SET {n} {value:float}' } },
  },
};
/** The descriptions of devices that do not work, by turns. */
const protocols = ['mpd', 'lwrp', 'videohub', 'rigctld', 'kramer-3000', 'extron-sis', 'shure-ulxd', 'pjlink'];
const kinds = ['refused', 'silent', 'closing', 'slow', 'garbage'] as const;
const warmUpMs = 5000;
/** Several rounds of attempts to connect, whose pauses are 1 to 30 s. */
const tailFactor = 12;

export const deadDevices: Subject = {
  name: 'dead-devices',
  about:
    'latency from the write of a client through a device to its arrival at twenty clients, in a hub with 1,000 devices, half of which are dead',
  measures: ['lib/connections/device', 'lib/device'],
  rounds: 5,
  async cases({ hubFolder, isQuick, measureMs, devices }) {
    const half = Math.ceil(devices / 2);
    const times = isQuick ? { beforeMs: 200, duringMs: 500 } : { beforeMs: warmUpMs, duringMs: measureMs * tailFactor };
    const contender = (name: string, role: Contender['role'], dead: number): Contender => ({
      name,
      role,
      measure: () =>
        inTemporaryFolder('dead', (folder) => measure(folder, { hubFolder, isQuick, half, dead, ...times })),
    });
    return [
      {
        name: `${devices.toLocaleString('en')} devices`,
        metrics: [
          { key: 'p50', title: 'median, ms', digits: 2, better: 'less' },
          { key: 'p99', title: 'p99, ms', digits: 2, better: 'less', targets: [{ against: withoutDead, atMost: 1.2 }] },
          { key: 'busy', title: '% of a core', digits: 1, better: 'less' },
        ],
        contenders: [contender('hub', 'hub', half), contender(withoutDead, 'ceiling', 0)],
      },
    ];
  },
};

interface Run {
  readonly hubFolder: string;
  readonly isQuick: boolean;
  /** How many devices work, and how many do not. */
  readonly half: number;
  readonly dead: number;
  readonly beforeMs: number;
  readonly duringMs: number;
}

async function measure(folder: string, { hubFolder, isQuick, half, dead, ...times }: Run): Promise<Measurement> {
  await writeFile(join(folder, 'desk.device.json5'), JSON.stringify(desk));
  const peers = startTask('bench/load/device-peers.ts', {});
  const ownPeer = startTask('bench/load/device-peers.ts', {}); // or what is measured would wait for the garbage of the others
  const ports = { ...(await peers.answer<PeerPorts>()), confirming: (await ownPeer.answer<PeerPorts>()).confirming };
  const device = (kind: keyof PeerPorts, protocol: string) => ({
    type: 'device',
    tcp: `127.0.0.1:${ports[kind]}`,
    protocol,
  });
  const connections = {
    desk: device('confirming', './desk.device.json5'),
    ...Object.fromEntries(
      Array.from({ length: half - 1 }, (_, place) => [`well-${place}`, device('speaking', 'nmea')]),
    ),
    ...Object.fromEntries(
      Array.from({ length: dead }, (_, place) => [
        `dead-${place}`,
        device(kinds[place % kinds.length]!, protocols[place % protocols.length]!),
      ]),
    ),
  };
  const hub = await startHub({ connections }, folder, { hubFolder, isQuick });
  try {
    const addresses = Array.from({ length: clients }, (_, place) => `desk/neighbour/${place}`);
    const task: NeighboursTask = { port: hub.port, addresses, ...times };
    const neighbours = startTask('spec/support/load/neighbours.ts', task);
    await neighbours.answer();
    const busyBefore = busyMsOfAll(hub.pid);
    neighbours.process.send('go on');
    const { during } = await neighbours.answer<NeighboursResult>();
    const busyMs = busyMsOfAll(hub.pid) - busyBefore;
    if (neighbours.process.connected) neighbours.process.disconnect();
    const answered = await fetch(`http://127.0.0.1:${hub.port}/hub/connections`);
    const { connections: statuses } = (await answered.json()) as { connections: { state: string }[] };
    const away = statuses.filter(({ state }) => state === 'degraded').length;
    if (away !== dead) throw new Error(`expected ${dead} devices to be away, got ${away}`);
    return { p50: during.p50, p99: during.p99, busy: (busyMs * 100) / times.duringMs };
  } finally {
    await hub.stop();
    peers.process.disconnect();
    ownPeer.process.disconnect();
  }
}
