// The two hosts of the trial `dmx`: this process with its hub is one, OLA the other. OLA runs in its own network namespace.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../../lib/model/error.ts';
import { becomesSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import { type ServerProcess, startHub } from '../../support/system/task-process.ts';
import { notify } from '../trial.ts';

const [universes = 16, seconds = 20] = process.argv.slice(2).map(Number);
const [hubIp, olaIp] = ['10.77.0.1', '10.77.0.2'];
const framesPerSecond = 44;
const channels = 512;
/** Universes of OLA: those that the hub sends, those that it receives, and one of each over Art-Net. */
const sent = Array.from({ length: universes }, (_, index) => index + 1);
const received = sent.map((universe) => universe + 100);
const [artSent, artReceived] = [203, 204];
const backWithinMs = 5000;
const staleWithinMs = { sacn: 2500 + 1000, art: 10_000 + 1000 };

const run = (program: string, ...args: readonly string[]) =>
  execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 20_000 }).toString();

/** The other host, which lives as long as a process that does nothing. */
class OtherHost {
  readonly #process = spawn('unshare', ['-n', 'sleep', 'infinity'], { stdio: 'ignore' });

  async connect(): Promise<void> {
    const pid = this.#process.pid!;
    const own = await readlink('/proc/self/ns/net');
    const isApart = async () => (await readlink(`/proc/${pid}/ns/net`).catch(() => own)) !== own;
    if (!(await becomesSo(isApart, { deadlineMs: 5000, everyMs: 20 })))
      throw new Error('expected another network namespace');
    run('ip', 'link', 'set', 'lo', 'up');
    run('ip', 'link', 'add', 'lights', 'type', 'veth', 'peer', 'name', 'desk', 'netns', String(pid));
    this.#configure((...args) => run('ip', ...args), 'lights', hubIp);
    this.#configure((...args) => this.run('ip', ...args), 'desk', olaIp);
  }

  #configure(ip: (...args: readonly string[]) => string, name: string, address: string): void {
    ip('addr', 'add', `${address}/24`, 'brd', '+', 'dev', name);
    ip('link', 'set', name, 'up');
    ip('link', 'set', 'lo', 'up');
    ip('route', 'add', '224.0.0.0/4', 'dev', name);
  }

  /** Runs a program on the other host. */
  run(program: string, ...args: readonly string[]): string {
    return run('nsenter', '-t', String(this.#process.pid), '-n', program, ...args);
  }

  start(program: string, ...args: readonly string[]): ChildProcess {
    return spawn('nsenter', ['-t', String(this.#process.pid), '-n', program, ...args], { stdio: 'ignore' });
  }

  end(): void {
    this.#process.kill('SIGKILL');
  }
}

/** OLA on the other host, with its universes patched to the ports of its devices. */
class Ola {
  readonly #host: OtherHost;
  readonly #folder: string;
  #process: ChildProcess | undefined;

  constructor(host: OtherHost, folder: string) {
    this.#host = host;
    this.#folder = folder;
  }

  async start(): Promise<void> {
    const user = ['--reuid', 'olad', '--regid', 'olad', '--clear-groups'];
    this.#process = this.#host.start('setpriv', ...user, 'olad', '-c', this.#folder, '-l', '0', '--no-http');
    const answers = () => {
      try {
        return /E1\.31/.test(this.#host.run('ola_dev_info')) && /ArtNet/.test(this.#host.run('ola_dev_info'));
      } catch {
        return false;
      }
    };
    if (!(await becomesSo(answers, { deadlineMs: 60_000, everyMs: 500 }))) throw new Error('OLA did not start');
    const devices = this.#host.run('ola_dev_info');
    const numberOf = (name: string) => new RegExp(`^Device (\\d+): ${name}`, 'm').exec(devices)![1]!;
    const patch = (name: string, port: number, universe: number, isInput: boolean) =>
      this.#host.run(
        'ola_patch',
        '-d',
        numberOf(name),
        '-p',
        String(port),
        ...(isInput ? ['-i'] : []),
        '-u',
        String(universe),
      );
    for (const [port, universe] of sent.entries()) patch('E1\\.31', port, universe, true);
    for (const [port, universe] of received.entries()) patch('E1\\.31', port, universe, false);
    patch('ArtNet', 0, artSent, true);
    patch('ArtNet', 0, artReceived, false);
  }

  signal(signal: NodeJS.Signals): void {
    const pid = Number(run('pgrep', '-f', `olad -c ${this.#folder}`).trim().split('\n')[0]);
    process.kill(pid, signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await after(200);
    this.#process?.kill('SIGKILL');
  }

  /** Sets the first channels of a universe once. */
  set(universe: number, ...values: readonly number[]): void {
    this.#host.run('ola_set_dmx', '-u', String(universe), '-d', values.join(','));
  }

  /** Plays frames of universes, 44 times a second. */
  async play(frames: readonly (readonly (readonly [universe: number, values: readonly number[]])[])[]): Promise<void> {
    const file = join(this.#folder, 'show');
    const pauseMs = Math.round(1000 / framesPerSecond);
    const lines = frames.flatMap((frame) =>
      frame.flatMap(([universe, values], index) => [
        `${universe} ${values.join(',')}`,
        String(index === frame.length - 1 ? pauseMs : 0),
      ]),
    );
    await writeFile(file, `OLA Show\n${lines.join('\n')}\n`);
    const child = this.#host.start('ola_recorder', '-p', file, '-i', '1');
    await new Promise((resolve) => child.on('close', resolve));
  }

  /** Records what arrives in universes; returns the values of each frame by universe. */
  record(universesOf: readonly number[], ms: number): () => Promise<ReadonlyMap<number, readonly number[][]>> {
    const file = join(this.#folder, 'record');
    const child = this.#host.start('ola_recorder', '-r', file, '-u', universesOf.join(','));
    setTimeout(() => child.kill('SIGTERM'), ms);
    const ended = new Promise((resolve) => child.on('close', resolve));
    return async () => {
      await ended;
      const text = await readFile(file, 'utf8');
      const frames = [...text.matchAll(/^(\d+) ([\d,]+)$/gm)].map(([, universe, values]) => ({
        universe: Number(universe),
        values: values!.split(',').map(Number),
      }));
      const grouped = Map.groupBy(frames, ({ universe }) => universe);
      return new Map([...grouped].map(([universe, all]) => [universe, all.map(({ values }) => values)]));
    };
  }
}

/** The hub, asked over HTTP. */
class Lights {
  readonly #hub: ServerProcess;

  constructor(hub: ServerProcess) {
    this.#hub = hub;
  }

  async #ask(path: string): Promise<Record<string, unknown>> {
    return (await (await fetch(`http://127.0.0.1:${this.#hub.port}${path}`)).json()) as Record<string, unknown>;
  }

  async values(filter: string): Promise<ReadonlyMap<string, { value: unknown; isStale: boolean }>> {
    const list = (await this.#ask(`/hub/parameters?filter=${encodeURIComponent(filter)}`)) as unknown as {
      parameter: string;
      value?: unknown;
      staleSince?: string;
    }[];
    return new Map(
      list.map(({ parameter, value, staleSince }) => [parameter, { value, isStale: staleSince !== undefined }]),
    );
  }

  async write(values: Readonly<Record<string, number>>): Promise<void> {
    for (const [parameter, value] of Object.entries(values)) {
      const body = new URLSearchParams({ parameter, value: String(value) });
      const { status } = await fetch(`http://127.0.0.1:${this.#hub.port}/update`, { method: 'POST', body });
      if (status !== 200) throw new Error(`${parameter}: ${status}`);
    }
  }

  async framesIn(connection: string): Promise<number> {
    const { connections } = (await this.#ask('/hub/connections')) as {
      connections: { id: string; wire?: { framesIn: number; refused?: number } }[];
    };
    const { wire } = connections.find(({ id }) => id === connection)!;
    if ((wire?.refused ?? 0) > 0) throw new Error(`${connection} has refused ${wire!.refused} packets`);
    return wire?.framesIn ?? 0;
  }

  /** Waits until a received parameter has a value, or is stale, and does something `again` before each look. Errors: it took too long. */
  async becomes(address: string, expected: number | 'stale', withinMs: number, again = () => {}): Promise<number> {
    const since = performance.now();
    const isSo = async () => {
      again();
      const found = (await this.values(`^${address}$`)).get(address);
      return expected === 'stale' ? found?.isStale === true : found?.value === expected && !found.isStale;
    };
    if (await becomesSo(isSo, { deadlineMs: withinMs, everyMs: 50 })) return Math.round(performance.now() - since);
    throw new Error(`expected ${address} to be ${expected} within ${withinMs} ms`);
  }
}

async function main(folder: string): Promise<void> {
  const settings = join(folder, 'ola');
  await mkdir(settings, { mode: 0o777 });
  run('chmod', '0777', folder, settings);
  await writeFile(
    join(settings, 'ola-e131.conf'),
    `input_ports = ${universes}\noutput_ports = ${universes}\nenabled = true\n`,
  );
  run('chmod', '0666', join(settings, 'ola-e131.conf'));
  const host = new OtherHost();
  const ola = new Ola(host, settings);
  let hub: ServerProcess | undefined;
  try {
    await host.connect();
    await ola.start();
    const all = (direction: 'in' | 'out', of: readonly number[]) =>
      Object.fromEntries(
        of.map((universe) => [`${direction}/${universe}/{n:1..${channels}}`, { universe, channel: 1, direction }]),
      );
    const network = { type: 'dmx', interface: hubIp };
    const art = (universe: number) => universe & 15; // the subnet and net of OLA are 0
    const artParameters = {
      'out/{n:1..512}': { universe: art(artSent), channel: 1 },
      'in/{n:1..512}': { universe: art(artReceived), channel: 1, direction: 'in' },
    };
    const connections = {
      acn: { ...network, protocol: 'sacn', parameters: { ...all('out', sent), ...all('in', received) } },
      art: { ...network, protocol: 'art-net', parameters: artParameters },
    };
    const hubFolder = join(folder, 'hub');
    await mkdir(hubFolder);
    hub = await startHub({ connections }, hubFolder, { hubFolder: thisTree });
    const lights = new Lights(hub);
    const say = (text: string) => notify(`${text}: holds`);
    const [firstIn, firstOut] = [received[0]!, sent[0]!];

    // Values in both directions.
    ola.set(firstIn, 11, 22, 33);
    await lights.becomes(`acn/in/${firstIn}/3`, 33, backWithinMs);
    await lights.becomes('art/in/2', 55, 2 * backWithinMs, () => ola.set(artReceived, 44, 55, 66)); // once OLA has polled
    await lights.write({
      [`acn/out/${firstOut}/1`]: 200,
      [`acn/out/${firstOut}/512`]: 7,
      'art/out/1': 201,
      'art/out/512': 8,
    });
    await expectAtOla(
      ola,
      new Map([
        [firstOut, [200, 7]],
        [artSent, [201, 8]],
      ]),
    );
    say('values over sACN and Art-Net, in both directions');

    // Many universes at once.
    const frameCount = seconds * framesPerSecond;
    const frames = Array.from({ length: frameCount }, (_, frame) =>
      received.map(
        (universe) => [universe, Array.from({ length: channels }, (_, at) => (frame + at + universe) & 255)] as const,
      ),
    );
    const before = { frames: await lights.framesIn('acn'), busyMs: busyMsOf(hub.pid), ms: performance.now() };
    const recorded = ola.record(sent, seconds * 1000 + 3000);
    const writing = (async () => {
      for (let round = 1; performance.now() - before.ms < seconds * 1000; round++)
        await lights.write(Object.fromEntries(sent.map((universe) => [`acn/out/${universe}/5`, round & 255])));
      await lights.write(Object.fromEntries(sent.map((universe) => [`acn/out/${universe}/5`, 99])));
    })();
    await Promise.all([ola.play(frames), writing]);
    const busyPercent = ((busyMsOf(hub.pid) - before.busyMs) * 100) / (performance.now() - before.ms);
    const last = new Map(frames.at(-1)!);
    const areLast = async () => {
      const values = await lights.values('^acn/in/');
      return received.every((universe) =>
        last.get(universe)!.every((value, at) => values.get(`acn/in/${universe}/${at + 1}`)?.value === value),
      );
    };
    if (!(await becomesSo(areLast, { deadlineMs: backWithinMs, everyMs: 200 })))
      throw new Error('expected the last frame of each universe');
    const arrived = (await lights.framesIn('acn')) - before.frames;
    if (arrived < frameCount * universes * 0.99)
      throw new Error(`expected ${frameCount * universes} packets, got ${arrived}`);
    const atOla = await recorded();
    for (const universe of sent)
      if (atOla.get(universe)?.at(-1)?.[4] !== 99)
        throw new Error(`expected 99 in universe ${universe} of OLA, got ${atOla.get(universe)?.at(-1)?.[4]}`);
    const fastest = Math.max(...[...atOla.values()].map((all) => all.length)) / (seconds + 3);
    if (fastest > framesPerSecond * 1.1)
      throw new Error(`expected at most ${framesPerSecond} packets a second, got ${fastest}`);
    say(
      `${universes} universes of ${channels} channels for ${seconds} s in both directions, ${arrived} packets received, hub ${busyPercent.toFixed(0)} % of a core`,
    );

    // A peer that is killed, stopped, and cut off.
    await ola.kill();
    await lights.becomes(`acn/in/${firstIn}/1`, 'stale', staleWithinMs.sacn);
    await lights.becomes('art/in/1', 'stale', staleWithinMs.art);
    await ola.start();
    const play = () => {
      ola.set(firstIn, 77); // OLA sends values once
      ola.set(artReceived, 78);
    };
    await lights.becomes(`acn/in/${firstIn}/1`, 77, backWithinMs, play);
    await lights.becomes('art/in/1', 78, 2 * backWithinMs, play);
    await expectAtOla(
      ola,
      new Map([
        [firstOut, [200, 7]],
        [artSent, [201, 8]],
      ]),
    );
    say('OLA killed and started again');
    ola.signal('SIGSTOP');
    await lights.becomes(`acn/in/${firstIn}/1`, 'stale', staleWithinMs.sacn);
    await lights.becomes('art/in/1', 'stale', staleWithinMs.art);
    ola.signal('SIGCONT');
    await lights.becomes(`acn/in/${firstIn}/1`, 77, backWithinMs, play);
    await lights.becomes('art/in/1', 78, backWithinMs, play);
    say('OLA stopped and continued');
    host.run('ip', 'link', 'set', 'desk', 'down');
    await lights.becomes(`acn/in/${firstIn}/1`, 'stale', staleWithinMs.sacn);
    host.run('ip', 'link', 'set', 'desk', 'up');
    host.run('ip', 'route', 'replace', '224.0.0.0/4', 'dev', 'desk');
    await lights.becomes(`acn/in/${firstIn}/1`, 77, backWithinMs, play);
    say('the network cut and restored');
  } finally {
    await ola.kill().catch(() => {});
    await hub?.stop(true).catch(() => {});
    host.end();
  }
}

/** Waits until OLA has these values in the first and the last channel of universes. */
async function expectAtOla(
  ola: Ola,
  expected: ReadonlyMap<number, readonly [first: number, last: number]>,
): Promise<void> {
  let got = '';
  const isSo = async () => {
    const found = await ola.record([...expected.keys()], 1500)();
    got = [...found].map(([universe, all]) => `${universe}: ${all.at(-1)![0]}, ${all.at(-1)![511]}`).join('; ');
    return [...expected].every(([universe, [first, last]]) => {
      const values = found.get(universe)?.at(-1);
      return values?.[0] === first && values[511] === last;
    });
  };
  if (!(await becomesSo(isSo, { deadlineMs: 12_000, everyMs: 100 })))
    throw new Error(`expected other values at OLA than ${got}`);
}

function busyMsOf(pid: number): number {
  const [, , , , , , , , , , , , , user, system] = run('cat', `/proc/${pid}/stat`)
    .replace(/\(.*\)/, '()')
    .split(' ');
  return (Number(user) + Number(system)) * 10;
}

try {
  await inTemporaryFolder('dmx', main);
} catch (error) {
  const { cause } = error as { cause?: unknown };
  notify(`**${messageOf(error)}${cause === undefined ? '' : `: ${messageOf(cause)}`}**`);
  process.exitCode = 1;
}
process.exit();
