// npm run trial -- console-load: measures how many frames a second the console draws with 200 widgets whose values change 50 times a
// second, and how much of a core it takes; and how much its heap grows in an hour at 20,000 changes a second.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { type Hub, startHub } from '../../lib/hub/index.ts';
import { launchBrowser } from '../support/browser/browser.ts';
import { createLogRecorder } from '../support/connection.ts';
import { inTemporaryFolder } from '../support/folder.ts';
import { api, portsOf, writer } from '../support/hub.ts';
import { defineTrial, notify } from './trial.ts';

const widgets = 200;
const meters = 1000;
const hertz = 50;
const changesPerSecond = 20_000;
const leastFrames = 45;
const mostGrownBytes = 2_000_000;
/** The share of a core that the page may take, without what draws pixels in place of a graphics card. */
const mostCores = 0.5;
const states = ['idle', 'starting', 'on air', 'fading out'];
const alarm = { from: -6, tone: 'danger' };
/** The widgets of the wall, in turn: the declaration of the parameter, the widget, and its value at a fraction of its range. */
const kinds: readonly Kind[] = [
  {
    start: 'F,-60',
    widget: {
      type: 'meter',
      label: 'Mic',
      unit: 'dB',
      min: -60,
      max: 0,
      digits: 1,
      scale: true,
      peak: 2,
      zones: [alarm],
    },
    valueAt: (share) => share * 60 - 60,
  },
  { start: 'F,0', widget: { type: 'meter', label: 'Bar' }, valueAt: (share) => share },
  {
    start: 'F,0',
    widget: { type: 'value', label: 'Level', unit: 'dB', digits: 1 },
    valueAt: (share) => share * 100 - 50,
  },
  {
    start: 'S,idle',
    widget: { type: 'value', label: 'State' },
    valueAt: (share) => states[Math.floor(share * states.length)]!,
  },
  { start: 'B,false', widget: { type: 'lamp', label: 'On air' }, valueAt: (share) => share >= 0.5 },
  { start: 'F,0', widget: { type: 'fader', label: 'Main' }, valueAt: (share) => share },
  {
    start: 'F,0',
    widget: { type: 'gauge', label: 'Load', unit: '%', max: 100, zones: [{ from: 80, tone: 'danger' }] },
    valueAt: (share) => Math.round(share * 100),
  },
  { start: 'I,0', widget: { type: 'value', label: 'Count' }, valueAt: (share) => Math.round(share * 1000) },
];
/** The threads that draw pixels where there is no graphics card. */
const drawing = /Tile|ThreadPool/;
const ticksPerSecond = 100;

interface Kind {
  readonly start: string;
  readonly widget: Readonly<Record<string, unknown>>;
  readonly valueAt: (share: number) => number | string | boolean;
}

const kindOf = (index: number) => kinds[index % kinds.length]!;

export const trial = defineTrial({
  about: 'draws 200 widgets at 50 Hz on half a core, and keeps a page open during 20,000 changes per second',
  options: {
    seconds: ['how long frames are counted, in seconds', 20, 5],
    minutes: ['how long the page is open, in minutes', 60, 1],
    frames: ['the minimum number of frames per second', leastFrames, 1],
    cores: ['the maximum share of a core that the page may use', mostCores, 2],
  },
  run({ seconds, minutes, frames: least, cores: most }) {
    return inTemporaryFolder('console-load', async (folder) => {
      const { hub, port } = await startLoaded(folder);
      const browser = await launchBrowser();
      try {
        const { frames, cores } = await framesOf(browser, port, hub, seconds);
        notify(`${widgets} widgets at ${hertz} Hz: ${frames.toFixed(1)} frames/s`);
        const grown = await growthOf(browser, port, hub, minutes);
        notify(`${minutes} min: the heap has grown by ${(grown / 1e6).toFixed(2)} MB`);
        const isHeld = frames >= least && cores <= most && grown < mostGrownBytes;
        const condition = `at least ${least} frames/s, at most ${most} of a core, and less than 2 MB`;
        notify(isHeld ? 'holds' : `does not hold: expected ${condition}`);
        return isHeld;
      } finally {
        await browser.close();
        await hub.stop();
      }
    });
  },
});

async function startLoaded(folder: string): Promise<{ readonly hub: Hub; readonly port: number }> {
  const flow = join(folder, 'flow.json5');
  const parameters = Array.from({ length: meters }, (_, index) => `meter-${index},${kindOf(index).start}`);
  const items = Array.from({ length: widgets }, (_, index) => ({
    ...kindOf(index).widget,
    address: `rack/meter-${index}`,
  }));
  await mkdir(join(folder, 'dashboards'));
  await writeFile(join(folder, 'dashboards', 'wall.json5'), JSON.stringify({ columns: 20, rows: 10, widgets: items }));
  await writeFile(
    flow,
    JSON.stringify({
      connections: { api: { ...api, dashboards: 'dashboards' }, rack: { type: 'dummy', parameters } },
    }),
  );
  const log = createLogRecorder();
  const hub = await startHub({ paths: [flow], log });
  return { hub, port: portsOf(log)[0]! };
}

/** Changes the first `count` parameters in turn, so many times a second; returns a function that stops and says how many it made. */
function flood(hub: Hub, count: number, perSecond: number): () => number {
  const startMs = performance.now();
  let made = 0;
  const timer = setInterval(() => {
    const due = Math.min(made + perSecond / 10, ((performance.now() - startMs) / 1000) * perSecond);
    for (; made < due; made++) {
      const index = made % count;
      hub.write(`rack/meter-${index}`, kindOf(index).valueAt(((made * 7) % 1000) / 1000), writer);
    }
  }, 1000 / hertz);
  return () => {
    clearInterval(timer);
    return made / ((performance.now() - startMs) / 1000);
  };
}

/** Counts the frames of the wall, and the work for them: of all threads of the page, and of its browser's engine per frame. */
async function framesOf(
  browser: Browser,
  port: number,
  hub: Hub,
  seconds: number,
): Promise<{ readonly frames: number; readonly cores: number }> {
  const { page, session } = await open(browser, port, '#/dashboards?name=wall');
  await page
    .locator('.widget')
    .nth(widgets - 1)
    .waitFor();
  const stop = flood(hub, widgets, widgets * hertz);
  await session.send('Performance.enable');
  await page.waitForTimeout(3000);
  const [threadsBefore, before] = [await threadSeconds(browser), await metricsOf(session)];
  const frames = await page.evaluate<number>(`new Promise((resolve) => {
    let frames = 0;
    const startMs = performance.now();
    const draw = (now) => {
      frames++;
      if (now - startMs < ${seconds * 1000}) requestAnimationFrame(draw);
      else resolve((frames * 1000) / (now - startMs));
    };
    requestAnimationFrame(draw);
  })`);
  const [threads, after] = [await threadSeconds(browser), await metricsOf(session)];
  notify(`${Math.round(stop())} changes/s were made`);
  const passed = after.get('Timestamp')! - before.get('Timestamp')!;
  const perSecond = (name: string) => (after.get(name)! - before.get(name)!) / passed;
  const perFrame = (name: string) => (perSecond(name) / frames).toFixed(2);
  const coresOf = (name: keyof ThreadSeconds) => (threads[name] - threadsBefore[name]) / passed;
  const cores = coresOf('own');
  const drawn = cores + coresOf('drawing');
  const all = drawn + coresOf('others');
  notify(`${cores.toFixed(2)} of a core for the page, of which ${coresOf('main').toFixed(2)} for its main thread`);
  notify(`${drawn.toFixed(2)} with the drawing of its pixels, ${all.toFixed(2)} with the rest of the browser`);
  notify(`per frame: ${perFrame('RecalcStyleCount')} style passes, ${perFrame('LayoutCount')} layouts`);
  const milliseconds = ['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration', 'TaskDuration'].map(
    (name) => `${name} ${Math.round(1000 * perSecond(name))} ms`,
  );
  notify(`per second: ${milliseconds.join(', ')}`);
  await page.context().close();
  return { frames, cores };
}

async function metricsOf(session: CDPSession): Promise<ReadonlyMap<string, number>> {
  const { metrics } = await session.send('Performance.getMetrics');
  return new Map(metrics.map(({ name, value }) => [name, value]));
}

interface ThreadSeconds {
  /** Of the main threads of all pages. */
  readonly main: number;
  /** Of all threads of all pages, except for those that draw pixels. */
  readonly own: number;
  readonly drawing: number;
  /** Of the browser's other processes, which also put pixels together where there is no graphics card. */
  readonly others: number;
}

/** Returns the seconds of processor time that the threads of the browser have taken (proc(5), `/proc/<pid>/task/<tid>/stat`). */
async function threadSeconds(browser: Browser): Promise<ThreadSeconds> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const seconds = { main: 0, own: 0, drawing: 0, others: 0 };
  for (const { id, type } of processInfo)
    for (const thread of await readdir(`/proc/${id}/task`)) {
      const stat = await readFile(`/proc/${id}/task/${thread}/stat`, 'utf8').catch(() => '');
      const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/m.exec(stat) ?? [];
      const [user = 0, system = 0] = rest.split(' ').slice(11, 13).map(Number);
      const taken = (user + system) / ticksPerSecond;
      seconds[type !== 'renderer' ? 'others' : drawing.test(name) ? 'drawing' : 'own'] += taken;
      if (type === 'renderer' && thread === String(id)) seconds.main += taken;
    }
  return seconds;
}

async function growthOf(browser: Browser, port: number, hub: Hub, minutes: number): Promise<number> {
  const { page, session } = await open(browser, port, '#/parameters');
  await page.locator('[role=row][data-address]').first().waitFor();
  const stop = flood(hub, meters, changesPerSecond);
  await page.waitForTimeout(20_000); // until everything has been drawn, and what moves is drawn calmly
  const before = await heapOf(page, session);
  await page.waitForTimeout(minutes * 60_000);
  const after = await heapOf(page, session);
  notify(
    `${Math.round(stop())} changes/s were made; ${(before / 1e6).toFixed(2)} MB, then ${(after / 1e6).toFixed(2)} MB`,
  );
  await page.context().close();
  return after - before;
}

async function open(
  browser: Browser,
  port: number,
  hash: string,
): Promise<{ readonly page: Page; readonly session: CDPSession }> {
  const context = await browser.newContext({ viewport: { width: 1920, height: 1080 } });
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${port}/hub/${hash}`);
  return { page, session: await context.newCDPSession(page) };
}

/** The least of a few measurements: rubbish is not collected at once. */
async function heapOf(page: Page, session: CDPSession): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    least = Math.min(least, usedSize);
    await page.waitForTimeout(500);
  }
  return least;
}
