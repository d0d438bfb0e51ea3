// `node spec/ways.ts` prints which files of lib run, in their order: for a write of a patchbay.v1 socket to all sockets, for a save of a
// rule, and for a start. It asks V8, so that nothing is changed to find out: its breakpoints have a condition that notes the stack and is
// never true.

import { writeFile } from 'node:fs/promises';
import { type Debugger, Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { startHub } from '../lib/hub/index.ts';
import { createLogRecorder } from './support/connection.ts';
import { inTemporaryFolder } from './support/folder.ts';
import { api, portsOf } from './support/hub.ts';
import { openV1Socket } from './support/load/v1-socket.ts';
import { lib } from './support/repository/imports.ts';

const noteName = 'noteCallOfSpec';
const root = `${pathToFileURL(lib).href}/`;
/** Until the hub has done all that a start leaves for later. */
const restMs = 1500;

await inTemporaryFolder('ways', printWays);

async function printWays(folder: string): Promise<void> {
  const path = join(folder, 'flow.json5');
  let number = 0;
  const save = () => {
    const rules = [{ name: 'lamp', from: 'desk/fader', map: `value + ${++number}.0`, to: 'desk/lamp' }];
    const connections = { api, desk: { type: 'dummy', parameters: ['level,F', 'fader,F', 'lamp,F'] } };
    return writeFile(path, JSON.stringify({ connections, rules }));
  };
  await save();
  const start = async (isWatched: boolean) => {
    const log = createLogRecorder();
    return { log, hub: await startHub({ paths: [path], log, watch: isWatched }) };
  };
  await print('a start and a stop', async () => (await start(false)).hub.stop());

  const { log, hub } = await start(true);
  let take = () => {};
  const socket = await openV1Socket(
    portsOf(log)[0]!,
    () => take(),
    () => {},
  );
  socket.send({ sub: 1, include: ['desk/level'] });
  await after(restMs);
  await print('a write of a patchbay.v1 socket', () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    take = resolve;
    socket.send({ set: [['desk/level', ++number]] });
    return promise;
  });
  await print('a save of a rule', async () => {
    const reloads = log.lines.filter(({ message }) => message.startsWith('reloaded')).length;
    await save();
    await log.logged(/^reloaded/, reloads + 1);
  });
  socket.socket.destroy();
  await hub.stop();
}

async function print(what: string, act: () => Promise<void>): Promise<void> {
  await act();
  const files = [...new Set(await filesThatRun(act))];
  console.log(`${what}: ${files.length} files\n${files.map((file) => `  ${file}\n`).join('')}`);
}

/** The file of each call of a function of lib. Something happens twice: to learn what runs, and to note it call by call. */
async function filesThatRun(act: () => Promise<void>): Promise<string[]> {
  const session = new Session();
  session.connect();
  const files: string[] = [];
  Object.assign(globalThis, { [noteName]: (stack: string) => void files.push(fileOf(stack)) });
  try {
    await session.post('Profiler.enable');
    await session.post('Debugger.enable');
    for (const place of await placesThatRun(session, act)) {
      const condition = `globalThis.${noteName}(new Error().stack), false`;
      await session.post('Debugger.setBreakpoint', { location: place, condition });
    }
    await act();
  } finally {
    session.disconnect();
    Reflect.deleteProperty(globalThis, noteName);
  }
  return files;
}

/** Where the functions of lib begin that run. */
async function placesThatRun(session: Session, act: () => Promise<void>): Promise<Debugger.Location[]> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await act();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const places: Debugger.Location[] = [];
  for (const { scriptId, functions } of result.filter(({ url }) => url.startsWith(root))) {
    const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
    for (const { ranges } of functions) {
      const { count, startOffset, endOffset } = ranges[0]!;
      if (count === 0) continue;
      const [start, end] = [startOffset, endOffset].map((offset) => ({ scriptId, ...placeOf(scriptSource, offset) }));
      const { locations } = await session.post('Debugger.getPossibleBreakpoints', {
        start: start!,
        end: end!,
        restrictToFunction: true,
      });
      if (locations[0] !== undefined) places.push(locations[0]);
    }
  }
  return places;
}

function placeOf(source: string, offset: number): { lineNumber: number; columnNumber: number } {
  const lines = source.slice(0, offset).split('\n');
  return { lineNumber: lines.length - 1, columnNumber: lines.at(-1)!.length };
}

function fileOf(stack: string): string {
  const urls = stack.split('\n').flatMap((line) => /(file:\/\/\S+?):\d+:\d+\)?$/.exec(line)?.[1] ?? []);
  return relative(lib, fileURLToPath(urls.find((url) => url.startsWith(root))!));
}
