// npm run trial -- satellite: surfaces whose keys all change many times a second, beside surfaces that are killed and stopped. Exit status
// 1 if an image is missing or wrong, a lamp is late, or a dead surface counts as connected.

import type { ChildProcess, Serializable } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startHub } from '../../../lib/hub/index.ts';
import { messageOf } from '../../../lib/model/error.ts';
import type { Origin } from '../../../lib/model/parameter.ts';
import { untilSo } from '../../support/deadline.ts';
import { inTemporaryFolder } from '../../support/folder.ts';
import { silentLog } from '../../support/silent-log.ts';
import { freePort } from '../../support/system/port.ts';
import { startTask, type TaskProcess } from '../../support/system/task-process.ts';
import { defineTrial, notify } from '../trial.ts';
import type { SurfacesResult, SurfacesTask } from './surfaces.ts';

const writer: Origin = { kind: 'client', name: 'trial' };
/** How many surfaces are killed, and how many are stopped. */
const doomed = 3;
const pressedKey = 0;
const pressEveryMs = 200;

export const trial = defineTrial({
  about: 'shows changing images on many surfaces and presses their keys, while other surfaces are killed and stopped',
  options: {
    surfaces: ['the number of surfaces', 50, 6],
    keys: ['the number of keys on each surface', 32, 8],
    rate: ['the number of images per second on each surface', 10, 4],
    pixels: ['the width of an image, in pixels', 72],
    seconds: ['how long the trial runs, in seconds', 20, 3],
    faces: ['the number of different images that the surfaces show for the same key at the same time', 1000, 2],
    share: ['the minimum percentage of images that must arrive', 95, 50],
    limit: ['the time limit from a press to its lamp for 99 of 100 presses, in milliseconds', 20, 3000],
  },
  async run(options) {
    try {
      notify(`${await inTemporaryFolder('satellite', (folder) => run(folder, options))}: holds`);
      return true;
    } catch (error) {
      notify(`**${messageOf(error)}**`);
      return false;
    }
  },
});

interface Options {
  readonly surfaces: number;
  readonly keys: number;
  readonly rate: number;
  readonly pixels: number;
  readonly seconds: number;
  readonly faces: number;
  readonly share: number;
  readonly limit: number;
}

/** Errors: what does not hold. */
async function run(
  folder: string,
  { surfaces, keys, rate, pixels, seconds, faces, share, limit }: Options,
): Promise<string> {
  const port = await freePort();
  const all = surfaces + 2 * doomed;
  const flow = {
    connections: {
      it: {
        type: 'satellite',
        listen: `127.0.0.1:${port}`,
        surfaces: {
          [`d/{n:0..${all - 1}}`]: { device: 'deck:{n}', keys: { [`k/{k:0..${keys - 1}}`]: { key: '{k}' } } },
        },
      },
    },
    rules: [
      {
        each: { n: Array.from({ length: all }, (_, index) => index) },
        rules: [{ from: `it/d/\${n}/k/${pressedKey}/pressed`, to: `it/d/\${n}/k/${pressedKey}/lamp` }],
      },
    ],
  };
  await writeFile(join(folder, 'flow.json5'), JSON.stringify(flow));
  const hub = await startHub({ paths: [folder], log: silentLog });
  const started: TaskProcess[] = [];
  const begin = async (firstDevice: number, count: number) => {
    const task: SurfacesTask = { port, surfaces: count, firstDevice, keys, pixels, pressedKey, pressEveryMs };
    const process = startTask('spec/trials/satellite/surfaces.ts', task);
    started.push(process);
    await process.answer();
    return process;
  };
  const send = ({ process }: TaskProcess, message: Serializable) => void process.send(message);
  try {
    await untilSo('a running connection', () => hub.connections().find(({ id }) => id === 'it')?.state === 'running', {
      deadlineMs: 60_000,
      everyMs: 50,
    });
    const watched = await begin(0, surfaces);
    const killed = await begin(surfaces, doomed);
    const stopped = await begin(surfaces + doomed, doomed);
    for (const one of [watched, killed, stopped]) send(one, 'go');
    const changes = changeTexts(hub, { surfaces: all, keys, rate: rate / keys, faces });
    setTimeout(() => killed.process.kill('SIGKILL'), seconds * 300);
    setTimeout(() => stopped.process.kill('SIGSTOP'), seconds * 500);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const written = changes();
    send(watched, 'end');
    const { images, latenciesMs, wrong } = await watched.answer<SurfacesResult>(60_000);
    const p99 = [...latenciesMs].sort((a, b) => a - b)[Math.floor(latenciesMs.length * 0.99)]!;
    const isGone = (index: number) => hub.find(`it/d/${index}/connected`)?.value === false;
    await untilSo('dead surfaces that are not connected', () => indices(surfaces, all).every(isGone), {
      deadlineMs: 30_000,
      everyMs: 50,
    });
    const expected = (written * surfaces) / all;
    const shown = `${Math.round(images / seconds)} images/s of ${Math.round(expected / seconds)}, ${latenciesMs.length} presses, p99 ${p99.toFixed(1)} ms until the lamp`;
    if (wrong > 0) throw new Error(`expected bitmaps of ${pixels} pixels, got ${wrong} other lines: ${shown}`);
    if (images < (expected * share) / 100) throw new Error(`expected ${share} % of the images, got ${shown}`);
    if (latenciesMs.length === 0 || !(p99 <= limit)) throw new Error(`expected at most ${limit} ms, got ${shown}`);
    return shown;
  } finally {
    await Promise.all(started.map(({ process }) => end(process)));
    await hub.stop();
  }
}

/** Changes the texts of all keys but the pressed ones, spread evenly over time. Returns a function that ends this and returns how many. */
function changeTexts(
  hub: Awaited<ReturnType<typeof startHub>>,
  { surfaces, keys, rate, faces }: Pick<Options, 'surfaces' | 'keys' | 'rate' | 'faces'>,
) {
  const texts = indices(0, surfaces).map((surface) =>
    indices(0, keys).map((key) => hub.find(`it/d/${surface}/k/${key}/text`)!),
  );
  const startMs = performance.now();
  let done = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startMs) / 1000) * rate * surfaces;
    for (; done < due; done++)
      hub.turn(() => {
        for (const [key, text] of texts[done % surfaces]!.entries())
          if (key !== pressedKey)
            hub.writeTo(text, `${(done % surfaces) % faces}.${key} ${Math.floor(done / surfaces) % 1000}`, writer);
      });
  }, 2);
  return () => {
    clearInterval(timer);
    return done * (keys - 1);
  };
}

function indices(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
