// npm run trial -- framings: sends random streams through each framing: its own delimiters, whole frames, lying headers. No framer may
// throw, return a frame that is too long, or buffer more than a frame, and memory must not grow.

import assert from 'node:assert/strict';
import { memoryUsage } from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createFramer, type Framing } from '../../lib/device/frames.ts';
import { framings } from '../support/framings.ts';
import { Random } from '../support/random.ts';
import { defineTrial, notify } from './trial.ts';

const maxBytes = 4096;
/** What a framer adds to a frame at most: a byte that shows that it is too long. */
const slackBytes = 1;
/** The frames of one batch; the memory is compared from batch to batch. */
const batch = 5000;
/** How much more memory may be in use after the last batch than after the first quarter of them, in bytes. */
const mostGrown = 4 * 1_048_576;
/** Bytes that mean something to one of the framings. */
const marks = Buffer.from('\r\n<>OK> \x10\x02\x03\x00\x01\xf0\xf7\xf8\xff\x90\xc0', 'latin1');

export const trial = defineTrial({
  about:
    'sends random streams through each framing of devices: nothing may be thrown, no frame may be too long, and no memory may leak',
  options: {
    frames: ['the number of random frames to send through each framing', 500_000, 20_000],
    seed: ['the seed for the streams', 1],
  },
  run: async ({ frames, seed }) => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    for (const [index, [name, framing]] of Object.entries(framings).entries())
      notify(`${name}: ${tryFraming(framing, frames, seed + index, collect)}`);
    notify(`${Object.keys(framings).length} framings, ${frames} frames each: holds`);
    return true;
  },
});

function tryFraming(framing: Framing, frames: number, seed: number, collect: () => void): string {
  const framer = createFramer(framing, maxBytes);
  const used: number[] = [];
  let found = 0;
  for (let from = 0; from < frames; from += batch) {
    const random = new Random(seed, from);
    for (let number = from; number < Math.min(from + batch, frames); number++) {
      const part = aPart(random, framing);
      const cut = random.below(part.length + 1);
      for (const piece of [part.subarray(0, cut), part.subarray(cut)])
        for (const frame of [...framer.push(piece), ...(random.once(2) ? framer.flush() : [])]) {
          const { length } = frame.toBuffer();
          assert.ok(framing.kind === 'whole' || length <= maxBytes + slackBytes, `a frame of ${length} bytes`);
          found++;
        }
    }
    collect();
    used.push(memoryUsage().heapUsed + memoryUsage().arrayBuffers);
  }
  const grown = used.at(-1)! - used[Math.floor(used.length / 4)]!;
  assert.ok(grown < mostGrown, `expected less than ${mostGrown} bytes more in use, got ${grown}`);
  return `${found} frames found, ${(grown / 1024).toFixed(0)} KiB more in use`;
}

/** A frame as it should be, one that is damaged, or bytes that are none. */
function aPart(random: Random, framing: Framing): Buffer {
  const rest = Buffer.from(
    Array.from({ length: random.below(random.once(50) ? 3 * maxBytes : 40) }, () =>
      random.once(3) ? marks[random.below(marks.length)]! : random.below(256),
    ),
  );
  if (random.once(3)) return rest;
  const wrapped = createFramer(framing, maxBytes).wrap(rest);
  if (random.once(2)) return wrapped;
  const damaged = Buffer.from(wrapped);
  if (damaged.length > 0) damaged[random.below(damaged.length)] = random.below(256);
  return damaged;
}
