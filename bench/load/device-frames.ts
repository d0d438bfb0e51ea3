// What a frame costs the hub, from the socket to the graph. A device in one process sends continuously to a hub in another. Every frame
// carries a value that differs from the previous one of its parameter, so every frame is a change.

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { inTemporaryFolder } from '../../spec/support/folder.ts';
import { busyMsOfAll } from '../../spec/support/system/process-usage.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { startHub } from '../../spec/support/system/task-process.ts';
import { keepApart } from './cores.ts';

export interface DeviceFramesTask {
  readonly hubFolder: string;
  readonly profileFolder: string | undefined;
  readonly isQuick: boolean;
  /** Number of the device's parameters. */
  readonly parameters: number;
  /** Whether each parameter has a pattern of its own; otherwise all share four patterns. */
  readonly hasPatterns: boolean;
  /** Frames during the warm-up and during the measurement. */
  readonly warmUpFrames: number;
  readonly frames: number;
  /** undefined: as fast as the hub accepts them. */
  readonly framesPerSecond?: number | undefined;
}

export interface DeviceFramesResult {
  /** CPU time of the hub per frame. */
  readonly usPerFrame: number;
  /** CPU usage of the hub, as a percentage of one core. */
  readonly busyPercent: number;
  readonly framesPerSecond: number;
}

/** The kinds of frames, in rotation: integers, decimals, words and switches. */
const kinds = [
  { name: 'LEVEL', type: 'I', pattern: '{value:int}', of: (n: number) => n },
  { name: 'GAIN', type: 'F', pattern: '{value:float}', of: (n: number) => n + 0.5 },
  { name: 'LABEL', type: 'S', pattern: '"{value}"', of: (n: number) => `Camera ${n}` },
  { name: 'MUTE', type: 'B', pattern: '{value:on(ON,OFF)}', of: (n: number) => n % 2 === 1 },
] as const;
const kindOf = (place: number) => kinds[place % kinds.length]!;

function description({ parameters: count, hasPatterns }: DeviceFramesTask): object {
  const own = Array.from({ length: count }, (_, place) => {
    const { name, type, pattern } = kindOf(place);
    return [`${name}/${place}`, { type, on: `${name}.${place} ${pattern}` }] as const;
  });
  const shared = kinds.map(
    ({ name, type, pattern }) => [`${name}/{n:0..${count}}`, { type, on: `${name}.{n:int} ${pattern}` }] as const,
  );
  return {
    about: 'A device that sends continuously',
    frame: { end: '\n' },
    parameters: { ...Object.fromEntries(hasPatterns ? own : shared), round: { type: 'I', on: 'ROUND {value:int}' } },
  };
}

/** One frame per parameter, with the values of a round. */
function textOf(parameters: number, round: number): Buffer {
  const lines = Array.from({ length: parameters }, (_, place) => {
    const { name, of } = kindOf(place);
    const value = of(place + round);
    const written =
      typeof value === 'boolean' ? (value ? 'ON' : 'OFF') : typeof value === 'string' ? `"${value}"` : value;
    return `${name}.${place} ${written}\n`;
  });
  return Buffer.from(lines.join(''));
}

/** The number of rounds that are encoded in advance and sent repeatedly. */
const roundsMade = 16;
const pausesPerSecond = 100;

/** Measures the hub while it receives the frames. Errors: a wrong value or number of frames. */
export function loadDevice(task: DeviceFramesTask): Promise<DeviceFramesResult> {
  return inTemporaryFolder('device-frames', (folder) => loadFrom(folder, task));
}

async function loadFrom(folder: string, task: DeviceFramesTask): Promise<DeviceFramesResult> {
  const { parameters } = task;
  const server = createServer({ noDelay: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const dialled = once(server, 'connection') as Promise<[Socket]>;
  await writeFile(join(folder, 'spoken.device.json5'), JSON.stringify(description(task)));
  const it = { type: 'device', tcp: `127.0.0.1:${port}`, protocol: './spoken.device.json5' };
  const hub = await startHub({ connections: { it } }, folder, task);
  try {
    keepApart(hub.pid);
    const [socket] = await dialled;
    const device = new SpeakingDevice(
      socket.on('error', () => {}),
      parameters,
      hub.port,
    );
    await device.speak(task.warmUpFrames, task.framesPerSecond);
    const before = { busyMs: busyMsOfAll(hub.pid), ms: performance.now() };
    const frames = await device.speak(task.frames, task.framesPerSecond);
    const busyMs = busyMsOfAll(hub.pid) - before.busyMs;
    const elapsedMs = performance.now() - before.ms;
    await device.check();
    return {
      usPerFrame: (busyMs * 1000) / frames,
      busyPercent: (busyMs * 100) / elapsedMs,
      framesPerSecond: (frames * 1000) / elapsedMs,
    };
  } finally {
    await hub.stop();
    server.close();
  }
}

class SpeakingDevice {
  readonly #socket: Socket;
  readonly #parameters: number;
  readonly #url: string;
  readonly #rounds: readonly Buffer[];
  #round = 0;
  #frames = 0;

  constructor(socket: Socket, parameters: number, hubPort: number) {
    this.#socket = socket;
    this.#parameters = parameters;
    this.#url = `http://127.0.0.1:${hubPort}`;
    this.#rounds = Array.from({ length: roundsMade }, (_, round) => textOf(parameters, round));
  }

  /** Sends about `frames` frames; resolves to the exact number once the hub has processed all of them. */
  async speak(frames: number, framesPerSecond: number | undefined): Promise<number> {
    const rounds = Math.max(1, Math.ceil(frames / this.#parameters));
    const perPause = framesPerSecond === undefined ? undefined : framesPerSecond / this.#parameters / pausesPerSecond;
    const startMs = performance.now();
    for (let round = 0; round < rounds; ) {
      const dueMs = performance.now() - startMs;
      const due =
        perPause === undefined ? rounds : Math.min(rounds, Math.floor((dueMs * pausesPerSecond * perPause) / 1000));
      const many: Buffer[] = [];
      for (; round < due && many.length < roundsMade; round++) many.push(this.#rounds[++this.#round % roundsMade]!);
      if (many.length > 0 && !this.#socket.write(Buffer.concat(many))) await once(this.#socket, 'drain');
      if (round === due && round < rounds) await after(1000 / pausesPerSecond);
    }
    this.#socket.write(`ROUND ${this.#round}\n`);
    this.#frames += rounds * this.#parameters + 1;
    await this.#taken();
    return rounds * this.#parameters + 1;
  }

  async #taken(): Promise<void> {
    for (;;) {
      const answer = await fetch(`${this.#url}/parameters/it/round`);
      if ((await answer.text()) === String(this.#round)) return;
      await after(5);
    }
  }

  /** Errors: a parameter without its last value, or a wrong number of frames. */
  async check(): Promise<void> {
    const metrics = await (await fetch(`${this.#url}/hub/metrics`)).text();
    const [, taken] = /^patchbay_device_frames_total\{id="it",direction="in"\} (\d+)$/m.exec(metrics) ?? [];
    if (Number(taken) !== this.#frames) throw new Error(`expected ${this.#frames} frames, got ${taken}`);
    const list = (await (await fetch(`${this.#url}/hub/parameters`)).json()) as { parameter: string; value: unknown }[];
    const values = new Map(list.map(({ parameter, value }) => [parameter, value]));
    for (let place = 0; place < this.#parameters; place++) {
      const { name, of } = kindOf(place);
      const expected = of(place + (this.#round % roundsMade));
      const found = values.get(`it/${name}/${place}`);
      if (found !== expected) throw new Error(`expected it/${name}/${place} to be ${expected}, got ${found}`);
    }
  }
}

if (import.meta.main) await runTask(loadDevice);
