// npm run trial -- snmp: many SNMP agents with 100 objects each, polled every second, half of them over SNMPv3 with encryption; then traps
// and informs amid garbage, and all agents are killed, started, stopped and continued. Exit status 1 if a value is wrong, an agent is
// polled too rarely, the other clients are affected, a notification is missing, or values do not become stale or fresh in time.

import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { promisify } from 'node:util';
import { messageOf } from '../../../lib/model/error.ts';
import { type Agent, base, environment, freeUdpPort, startAgent, users } from '../../connections/snmp/peers.ts';
import { untilSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import type { NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { summarize } from '../../support/statistics.ts';
import { startHub, startTask } from '../../support/system/task-process.ts';
import { defineTrial, notify } from '../trial.ts';

const run = promisify(execFile);
const objects = 100;
const everyMs = 1000;
/** How many agents a process of snmpd plays, each at a port of its own. */
const perProcess = 10;
const neighbours = 20;
const notifications = 20;
const alarm = `${base}.0.1`;

interface Listed {
  readonly parameter: string;
  readonly value?: unknown;
  readonly staleSince?: unknown;
}

interface Report {
  readonly id: string;
  readonly state: string;
  readonly reason?: string;
  readonly wire?: { readonly framesIn: number; readonly refused?: number };
}

export const trial = defineTrial({
  about:
    'reads 100 objects from many SNMP agents every second, beside ordinary clients, and kills and stops the agents',
  options: {
    agents: ['the number of agents', 100, 10],
    seconds: ['how long they are read, in seconds', 20, 3],
    ratio: ["what the others' p99 may be of that at an idle hub", 2, 100],
    limit: ['the time limit for values to become stale, or fresh again, in seconds', 10, 60],
  },
  async run({ agents, seconds, ratio, limit }) {
    const ends: (() => unknown)[] = [];
    try {
      return await inTemporaryFolder('snmp', async (folder) => {
        const ports = await Promise.all(Array.from({ length: agents }, () => freeUdpPort()));
        const groups = Array.from({ length: Math.ceil(agents / perProcess) }, (_, index) =>
          ports.slice(index * perProcess, (index + 1) * perProcess),
        );
        const more = Array.from({ length: objects }, (_, n) => `override ${base}.50.${n}.0 integer ${100 + n}`).join(
          '\n',
        );
        const startAgents = (): Promise<Agent[]> =>
          Promise.all(
            groups.map(async ([port, ...furtherPorts], index) => {
              const home = join(folder, `agent-${index}`);
              await mkdir(home, { recursive: true });
              const teardown = (end: () => unknown) => void ends.push(end);
              return startAgent({ teardown }, { port: port!, furtherPorts, more, folder: home });
            }),
          );
        let running = await startAgents();
        const trapPort = await freeUdpPort();
        const parameters = { [`r/{n:0..${objects - 1}}`]: { oid: `${base}.50.{n}.0` } };
        const one = { type: 'snmp', every: everyMs, timeout: 500, parameters };
        const connections: Record<string, object> = Object.fromEntries(
          ports.map((port, index) => {
            const who = index % 2 === 0 ? { community: 'public' } : { user: users.aes };
            return [`d${index}`, { ...one, ...who, udp: `127.0.0.1:${port}` }];
          }),
        );
        const traps = { listen: `127.0.0.1:${trapPort}`, from: ['127.0.0.1'], perSecond: 1000 };
        connections.traps = {
          type: 'snmp',
          user: users.sealer,
          traps,
          parameters: { alarm: { trap: alarm, oid: `${base}.1` } },
        };

        const hold = async (name: string, work: () => Promise<string>) => notify(`${name}: ${await work()}: holds`);
        return await withHub(join(folder, 'beside'), connections, seconds, async (port, watch) => {
          const read = async <Answer>(path: string) =>
            (await (await fetch(`http://127.0.0.1:${port}/hub/${path}`)).json()) as Answer;
          const reports = async () => (await read<{ connections: Report[] }>('connections')).connections;
          const framesOf = async () =>
            (await reports()).filter(({ id }) => /^d\d/.test(id)).map(({ wire }) => wire?.framesIn ?? 0);
          const isRight = ({ parameter, value }: Listed) => value === 100 + Number(parameter.split('/')[2]);
          const areAll = async (what: string, isSo: (one: Listed) => boolean) => {
            const startMs = performance.now();
            await untilSo(
              `${agents * objects} ${what} values`,
              async () => {
                const all = (await read<Listed[]>('parameters')).filter(({ parameter }) => /^d\d/.test(parameter));
                return all.length === agents * objects && all.every((listed) => isRight(listed) && isSo(listed));
              },
              { deadlineMs: limit * 1000, everyMs: 100 },
            );
            return Math.round(performance.now() - startMs);
          };
          const isStale = ({ staleSince }: Listed) => staleSince !== undefined;
          const isFresh = (listed: Listed) => !isStale(listed);

          await areAll('right', isFresh);
          let without: readonly number[] = [];
          let beside: readonly number[] = [];
          await hold('reading', async () => {
            const before = await framesOf();
            // At the same time, because the load of the machine changes both.
            [without, beside] = await withHub(join(folder, 'without'), {}, seconds, (_, watchOther) =>
              Promise.all([watchOther(), watch()]),
            );
            const answers = (await framesOf()).map((count, index) => count - before[index]!);
            const least = Math.min(...answers) / Math.ceil(objects / 40);
            if (least < (seconds * 1000) / everyMs - 2) throw new Error(`expected ${seconds} answers, got ${least}`);
            return `${agents * objects} values a second, at least ${Math.floor(least)} answers in ${seconds} s`;
          });
          await hold('neighbours', async () => {
            const medianOf = (numbers: readonly number[]) => summarize(numbers).median;
            const times = medianOf(beside.map((p99, window) => p99 / without[window]!));
            const shown = `p99 ${medianOf(without).toFixed(1)} ms at a hub without agents, ${medianOf(beside).toFixed(1)} ms beside them, ratio ${times.toFixed(2)}`;
            if (times > ratio) throw new Error(`expected at most ${ratio} times the p99, got ${shown}`);
            return shown;
          });
          await hold('traps', () =>
            notifyBesideGarbage(folder, trapPort, async () => {
              const listed = (await read<Listed[]>('parameters')).find(({ parameter }) => parameter === 'traps/alarm');
              return Number(listed?.value);
            }),
          );
          const signal = (name: NodeJS.Signals) => {
            for (const { child } of running) child.kill(name);
          };
          await hold('death', async () => {
            signal('SIGKILL');
            const staleMs = await areAll('stale', isStale);
            running = await startAgents();
            return `stale after ${staleMs} ms, fresh after ${await areAll('fresh', isFresh)} ms`;
          });
          await hold('stop', async () => {
            signal('SIGSTOP');
            const staleMs = await areAll('stale', isStale);
            signal('SIGCONT');
            return `stale after ${staleMs} ms, fresh after ${await areAll('fresh', isFresh)} ms`;
          });
          return true;
        });
      });
    } catch (error) {
      notify(`**${messageOf(error)}**`);
      return false;
    } finally {
      for (const end of ends) end();
    }
  },
});

/** The windows for which the neighbours are watched in so many seconds. A disturbance of the machine takes one of them, not the median. */
const windowMs = 1000;
const windowsIn = (seconds: number) => ({
  pairs: Math.max(1, Math.ceil((seconds * 1000) / windowMs / 2)),
  ms: windowMs,
});

/** Runs a hub with these connections, and with ordinary clients while `watch` runs, which returns their p99 in each window. */
async function withHub<Result>(
  folder: string,
  connections: Readonly<Record<string, object>>,
  seconds: number,
  work: (port: number, watch: () => Promise<readonly number[]>) => Promise<Result>,
): Promise<Result> {
  const ids = Array.from({ length: neighbours }, (_, index) => `neighbour/${index}`);
  const desk = { type: 'dummy', parameters: ids.map((id) => `${id},F`) };
  await mkdir(folder);
  const hub = await startHub({ connections: { ...connections, desk } }, folder, { hubFolder: thisTree });
  const watch = async () => {
    const addresses = ids.map((id) => `desk/${id}`);
    const task: NeighboursTask = {
      ...{ port: hub.port, addresses, beforeMs: 1000, duringMs: 0, windows: windowsIn(seconds) },
    };
    const watching = startTask('spec/support/load/neighbours.ts', task);
    try {
      await watching.answer();
      watching.process.send('go');
      return (await watching.answer<NeighboursResult>()).p99s;
    } finally {
      watching.process.kill('SIGKILL');
    }
  };
  try {
    return await work(hub.port, watch);
  } finally {
    await hub.stop();
  }
}

/** Sends informs, which their sender sees acknowledged, and traps, while garbage arrives at the same port. */
async function notifyBesideGarbage(folder: string, port: number, last: () => Promise<number>): Promise<string> {
  const { password, privPassword } = users.sealer;
  const who = [
    '-v3',
    '-u',
    'sealer',
    '-l',
    'authPriv',
    '-a',
    'SHA-512',
    '-A',
    password,
    '-x',
    'AES-256',
    '-X',
    privPassword,
  ];
  const socket = createSocket('udp4');
  let sent = 0;
  const garbage = setInterval(() => {
    for (let n = 0; n < 5; n++)
      socket.send(Buffer.alloc(20 + (sent++ % 1400), sent % 3 === 0 ? 0x30 : sent & 0xff), port, '127.0.0.1');
  }, 10);
  try {
    const home = join(folder, 'sender');
    await mkdir(home, { recursive: true });
    for (let n = 1; n <= notifications; n++) {
      const kind = n % 2 === 0 ? ['-Ci', '-r', '2'] : ['-e', '0x8000000001020304'];
      const args = [...kind, ...who, `127.0.0.1:${port}`, '', alarm, `${base}.1.0`, 'i', `${n}`];
      await run('snmptrap', args, { env: environment(home) });
      await untilSo(`notification ${n}`, async () => (await last()) === n, { deadlineMs: 10_000, everyMs: 20 });
    }
    await after(100);
    return `${notifications} traps and informs beside ${sent} packets of garbage`;
  } finally {
    clearInterval(garbage);
    await new Promise<void>((resolve) => socket.close(resolve));
  }
}
