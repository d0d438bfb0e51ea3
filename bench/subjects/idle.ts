// Clients that do nothing: what each costs the hub more than a socket costs raw uWebSockets.js, and how soon all are there.

import { readFileSync } from 'node:fs';
import { type ServerProcess, startHub, startServer } from '../../spec/support/system/task-process.ts';
import { tellingMemory } from '../../spec/support/system/used-memory.ts';
import { deskFlow, levelAddress } from '../contenders/fan-out.ts';
import { measureServer } from '../contenders/servers.ts';
import type { Subject } from '../harness/subject.ts';
import type { IdleResult, IdleTask } from '../load/idle.ts';

const kibibyte = 1024;
/** Which part of the open files that the system allows a hub gives to the connections of one address (`connectionsPerAddress`). */
const shareOfOneAddress = 3 / 8;
/** Sockets that are opened before it is measured, and some to spare. */
const otherSockets = 300;

export const idle: Subject = {
  name: 'idle',
  about: 'idle patchbay.v1 clients with one subscription each, compared with idle sockets in raw uWebSockets.js',
  measures: ['lib/connections/rest-api/sockets'],
  rounds: 3,
  async cases(options, folder) {
    const clients = Math.min(options.idleClients, Math.floor(openFilesLimit() * shareOfOneAddress) - otherSockets);
    const isLimited = clients < options.idleClients;
    const measure = (start: () => Promise<ServerProcess>, include: string | undefined) =>
      measureServer<IdleResult>(
        start,
        'bench/load/idle.ts',
        ({ port, pid }): IdleTask => ({ port, serverPid: pid, clients, include }),
      );
    return [
      {
        name: `${clients.toLocaleString('en')} clients`,
        metrics: [
          {
            key: 'more',
            title: 'KiB more than a raw socket, resident',
            digits: 2,
            better: 'less',
            targets: [{ atMost: 2 }],
          },
          { key: 'resident', title: 'KiB per client, resident', digits: 2 },
          { key: 'heap', title: 'KiB per client, heap', digits: 2 },
          { key: 'raw', title: 'KiB per raw socket, resident', digits: 2 },
          {
            key: 'seconds',
            title: 'seconds until all are subscribed',
            digits: 2,
            better: 'less',
            targets: [{ atMost: 10 }],
          },
          { key: 'rawSeconds', title: 'seconds until all raw sockets are connected', digits: 2 },
        ],
        contenders: [
          {
            name: 'hub',
            role: 'hub',
            async measure() {
              const hub = await measure(() => startHub(deskFlow, folder, options, tellingMemory), levelAddress);
              const raw = await measure(() => startServer('bench/contenders/relay.ts', {}, tellingMemory), undefined);
              return {
                more: (hub.residentBytes - raw.residentBytes) / kibibyte,
                resident: hub.residentBytes / kibibyte,
                heap: hub.heapBytes / kibibyte,
                raw: raw.residentBytes / kibibyte,
                seconds: hub.seconds,
                rawSeconds: raw.seconds,
              };
            },
          },
        ],
        notes: isLimited
          ? [
              `${options.idleClients.toLocaleString('en')} clients of one address need more open files than this system allows (ulimit -Hn)`,
            ]
          : [],
      },
    ];
  },
};

/** The hard limit of open files, up to which Node raises its own; infinite where it is not told. */
function openFilesLimit(): number {
  try {
    const line = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return Number(line?.[1] === 'unlimited' ? Number.POSITIVE_INFINITY : line?.[1]);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
