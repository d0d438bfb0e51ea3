// npm run trial -- companion: hosted driver modules that loop, exhaust memory, flood and crash beside ordinary clients; a hub that is
// killed while it hosts one; and modules that try to reach other hosts from a network namespace, where packets are counted. Exit status 1
// if the clients are affected, a process is left over, or a packet leaves.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../../lib/model/error.ts';
import { writeModule } from '../../connections/companion/build.ts';
import { untilSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import type { NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { summarize } from '../../support/statistics.ts';
import { isAlive } from '../../support/system/alive.ts';
import { startHub, startTask } from '../../support/system/task-process.ts';
import { defineTrial, notify } from '../trial.ts';

interface Part {
  readonly about: string;
  /** What the module does once its action is run; undefined: the part has a program of its own. */
  readonly mode?: string;
  /** The reason that the operator reads, of a module that is ended. */
  readonly reason?: RegExp;
}

const parts: Readonly<Record<string, Part>> = {
  spin: { about: 'a module that uses a whole processor', mode: 'spin at later' },
  loop: { about: 'a module that loops', mode: 'loop at later', reason: /did not answer/ },
  allocate: { about: 'a module that uses up its heap', mode: 'allocate at later', reason: /MiB of memory/ },
  buffers: {
    about: 'a module that uses up memory outside its heap',
    mode: 'buffers at later',
    reason: /MiB of memory/,
  },
  crash: { about: 'a module that crashes', mode: 'reject at later', reason: /it crashes later/ },
  chatter: { about: 'a module that prints errors endlessly', mode: 'chatter at later' },
  flood: { about: 'a module that sets 100,000 variables endlessly', mode: 'flood at later' },
  kill: { about: 'a hub that is killed while a module loops: the module must end', mode: 'loop at later' },
  network: { about: 'modules that try to reach other hosts, in a network namespace (requires root)' },
};

const neighbours = 20;
/** How long a module has misbehaved before it is measured, in milliseconds. */
const settleMs = 1500;
const looks = { deadlineMs: 120_000, everyMs: 50 };

export const trial = defineTrial({
  about:
    'hosts driver modules that misbehave beside ordinary clients, and counts the packets that they send to other hosts',
  options: {
    seconds: ['how long a module misbehaves in each round, in seconds', 10, 2],
    rounds: ['the number of comparisons with the same hub without the module', 5, 1],
    ratio: ["what the others' p99 may be of what it is without the module", 1.2, 100],
  },
  parts: { all: parts, short: ['crash', 'flood', 'kill', 'network'] },
  async run(options, { parts: chosen }) {
    let failed = 0;
    for (const [name, part] of chosen)
      try {
        const { mode, reason } = part;
        const result =
          mode === undefined
            ? await countPackets()
            : await onStage(mode, (stage) => (name === 'kill' ? killHub(stage) : compare(stage, reason, options)));
        notify(`${name}: ${result}`);
      } catch (error) {
        failed++;
        notify(`${name}: **${messageOf(error)}**`);
      }
    return chosen.length > 0 && failed === 0;
  },
});

/** A hub with a module that works until a command makes it misbehave, and with parameters for neighbours. */
interface Stage {
  readonly hub: Awaited<ReturnType<typeof startHub>>;
  /** The addresses of the neighbours' parameters. */
  readonly addresses: readonly string[];
  /** The log entries about modules that have ended. */
  readonly endings: readonly string[];
  command(action: 'start' | 'stop'): Promise<void>;
  misbehave(): Promise<void>;
  /** Resolves once the module runs. */
  running(): Promise<void>;
}

async function onStage<Result>(mode: string, work: (stage: Stage) => Promise<Result>): Promise<Result> {
  const sockets = new Set<Socket>();
  const device = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.write('program 1\n');
  }).listen(0, '127.0.0.1');
  await once(device, 'listening');
  const { port } = device.address() as { port: number };
  try {
    return await inTemporaryFolder('companion', async (folder) => {
      const module = join(folder, 'module');
      await writeModule(module, { api: 2, mode });
      const ids = Array.from({ length: neighbours }, (_, index) => `neighbour/${index}`);
      const it = {
        ...{ type: 'companion', module, config: { host: '127.0.0.1', port }, allowHosts: ['127.0.0.1'] },
        values: { program: { variable: 'program' } },
        writes: { misbehave: { action: 'misbehave' } },
      };
      const connections = {
        desk: { type: 'dummy', parameters: ids.map((id) => `${id},F`) },
        it: { ...it, memory: 512, enabled: true },
      };
      const endings: string[] = [];
      const hub = await startHub({ connections }, folder, { hubFolder: thisTree }, [], ({ msg }) => {
        if (/^module spec-device 1\.2\.3 ended: /.test(msg)) endings.push(msg);
      });
      const base = `http://127.0.0.1:${hub.port}`;
      const post = async (path: string, body: object) => {
        const headers = { 'content-type': 'application/json' };
        const { ok, status: code } = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
        if (!ok) throw new Error(`expected POST ${path} to work, got ${code}`);
      };
      const isRunning = async () => {
        const { connections: all } = (await (await fetch(`${base}/hub/connections`)).json()) as {
          connections: { id: string; state: string }[];
        };
        return all.find(({ id }) => id === 'it')!.state === 'running';
      };
      const stage: Stage = {
        hub,
        addresses: ids.map((id) => `desk/${id}`),
        endings,
        command: (action) => post('/hub/connections/it', { action }),
        misbehave: () => post('/update', { parameter: 'it/misbehave', value: true }),
        running: () => untilSo('a running module', isRunning, looks),
      };
      try {
        await stage.running();
        return await work(stage);
      } finally {
        if (hub.process.signalCode === null) await hub.stop(true); // otherwise the part has killed it
      }
    });
  } finally {
    for (const socket of sockets) socket.destroy();
    device.close();
  }
}

/** Compares what clients notice with and without the module. Errors: what does not hold. */
async function compare(
  { hub, addresses, endings, command, misbehave, running }: Stage,
  reason: RegExp | undefined,
  { seconds, rounds, ratio }: { readonly seconds: number; readonly rounds: number; readonly ratio: number },
): Promise<string> {
  const compared: { readonly before: number; readonly during: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    await command('stop');
    const watching = startTask('spec/support/load/neighbours.ts', {
      port: hub.port,
      addresses,
      beforeMs: seconds * 1000,
      duringMs: seconds * 1000,
    } satisfies NeighboursTask);
    await watching.answer();
    await command('start');
    await running();
    await misbehave();
    await after(settleMs);
    watching.process.send('go');
    const { before, during } = await watching.answer<NeighboursResult>();
    const exited = once(watching.process, 'exit');
    watching.process.disconnect();
    await exited;
    compared.push({ before: before.p99, during: during.p99 });
  }
  const medianOf = (numbers: readonly number[]) => summarize(numbers).median;
  const times = medianOf(compared.map(({ before, during }) => during / before));
  const [usual, now] = [medianOf(compared.map(({ before }) => before)), medianOf(compared.map(({ during }) => during))];
  const shown = `p99 ${usual.toFixed(1)} ms without it, ${now.toFixed(1)} ms with it, ratio ${times.toFixed(2)}`;
  if (times > ratio) throw new Error(`expected at most ${ratio} times the p99, got ${shown}`);
  const isNamed = () => reason === undefined || endings.some((ending) => reason.test(ending));
  await untilSo(`a log that names the module and ${reason}`, isNamed, looks);
  await running();
  return `${shown}, ${reason === undefined ? 'not ended' : 'named and started again'}: holds`;
}

/** Kills the hub while the module loops. Errors: a process of the hub is left. */
async function killHub({ hub, misbehave }: Stage): Promise<string> {
  if (process.platform !== 'linux') return 'left out, because this system does not list the children of a process';
  const children = readFileSync(`/proc/${hub.pid}/task/${hub.pid}/children`, 'latin1').trim().split(' ').map(Number);
  await misbehave();
  await after(settleMs);
  const exited = once(hub.process, 'exit');
  hub.process.kill('SIGKILL');
  await exited;
  const startMs = performance.now();
  await untilSo('the end of the processes that the hub has started', () => !children.some(isAlive), {
    deadlineMs: 5000,
    everyMs: 10,
  });
  return `${children.length} processes of a killed hub ended after ${Math.round(performance.now() - startMs)} ms: holds`;
}

/** Counts what leaves by the only interface of a network namespace, without allowed hosts and with them. Errors: what does not hold. */
async function countPackets(): Promise<string> {
  const run = (api: number, hosts: string) => {
    const commands = [
      'sysctl -qw net.ipv6.conf.all.disable_ipv6=1 2>/dev/null; ip link set lo up && ip link add d0 type veth peer name d1 && ip link set d1 up',
      'ip address add 192.0.2.1/24 dev d0 && ip link set d0 arp off up && ip route add default dev d0',
      `exec ${process.execPath} --disable-warning=ExperimentalWarning ${join(import.meta.dirname, 'alone.ts')} ${api} ${hosts}`,
    ];
    const { stdout, stderr, status } = spawnSync('unshare', ['-n', 'sh', '-c', commands.join(' && ')], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`expected a network namespace: ${stderr.slice(-500)}`);
    return JSON.parse(stdout.trim().split('\n').at(-1)!) as { packets: number; tried: string };
  };
  if (spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status !== 0)
    return 'left out, because no network namespace can be made here (root, iproute2)';
  const counts: string[] = [];
  for (const api of [1, 2]) {
    const denied = run(api, '');
    const allowed = run(api, '192.0.2.0/24');
    if (denied.packets !== 0) throw new Error(`API ${api}: expected no packet, got ${denied.packets}: ${denied.tried}`);
    if (allowed.packets === 0)
      throw new Error(`API ${api}: expected packets to allowed hosts, got none: ${allowed.tried}`);
    counts.push(`API ${api}: ${denied.packets} packets without allowHosts, ${allowed.packets} with it`);
  }
  return `${counts.join('; ')}: holds`;
}
