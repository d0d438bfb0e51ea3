// The surfaces of the trial, in a process of their own. Each counts the lines that it receives, presses one key, and waits for its lamp.

import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { argumentOf, SurfaceClient } from '../../connections/satellite/client.ts';
import { runTask } from '../../support/system/task.ts';

export interface SurfacesTask {
  readonly port: number;
  readonly surfaces: number;
  /** The number of the first device. */
  readonly firstDevice: number;
  readonly keys: number;
  readonly pixels: number;
  /** The key that each surface presses, and how often. */
  readonly pressedKey: number;
  readonly pressEveryMs: number;
}

export interface SurfacesResult {
  readonly images: number;
  /** From the press until the lamp, in ms. */
  readonly latenciesMs: readonly number[];
  /** Images that were not a bitmap of the right size. */
  readonly wrong: number;
}

await runTask(async ({ port, surfaces, keys, pixels, pressEveryMs, firstDevice, pressedKey }: SurfacesTask) => {
  let [images, wrong] = [0, 0];
  const latenciesMs: number[] = [];
  const lamps = new Map<number, (color: string) => void>();
  const bitmapLength = Math.ceil((pixels * pixels * 3) / 3) * 4;
  const clients = Array.from(
    { length: surfaces },
    (_, index) =>
      new SurfaceClient({
        port,
        deviceId: `deck:${firstDevice + index}`,
        args: `KEYS_TOTAL=${keys} KEYS_PER_ROW=8 BITMAPS=${pixels} COLORS=hex`,
        onKey: (key, head, length) => {
          images++;
          if (length < bitmapLength || length > bitmapLength + 300) wrong++;
          if (key === pressedKey) lamps.get(index)?.(argumentOf(head, 'COLOR') ?? '');
        },
      }),
  );
  for (const client of clients) {
    const answer = await client.start();
    if (!answer.startsWith('ADD-DEVICE OK')) throw new Error(answer);
  }
  process.send!({ result: 'ready' });
  await once(process, 'message');
  [images, wrong] = [0, 0];
  let isRunning = true;
  process.once('message', () => {
    isRunning = false;
  });
  await Promise.all(
    clients.map(async (client, index) => {
      let [isOn, isDone] = [false, (_: unknown) => {}];
      lamps.set(index, (color) => {
        if ((color === '#ff0000') === isOn) isDone(undefined);
      });
      await after((index * pressEveryMs) / surfaces);
      while (isRunning) {
        isOn = !isOn;
        const startMs = performance.now();
        const lit = new Promise((resolve) => {
          isDone = resolve;
        });
        client.press(pressedKey, isOn);
        await Promise.race([lit, after(10_000)]);
        latenciesMs.push(performance.now() - startMs);
        await after(pressEveryMs);
      }
    }),
  );
  for (const client of clients) client.end();
  return { images, latenciesMs, wrong } satisfies SurfacesResult;
});
