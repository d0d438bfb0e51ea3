// Which functions of lib run while something happens, in their order, and who called them: asked of V8, so that nothing is changed to
// find out. Its breakpoints have a condition that notes the stack and is never true.

import { type Debugger, Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { lib } from './imports.ts';
import '../own-process.ts';

/** A call of a function of lib: its file, and the files of those that called it, the last caller first. */
export interface Call {
  readonly file: string;
  readonly callers: readonly string[];
}

const noteName = 'noteCallOfSpec';
const root = `${pathToFileURL(lib).href}/`;

/**
 * Has something happen twice: once to learn what runs, and once more to note it call by call. Nothing else may happen in this process
 * meanwhile, so tests that use it are serial.
 */
export async function traceCalls(act: () => Promise<void>): Promise<Call[]> {
  const session = new Session();
  session.connect();
  const sources = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => void sources.set(scriptId, url));
  const calls: Call[] = [];
  const limit = Error.stackTraceLimit;
  Object.assign(globalThis, { [noteName]: (stack: string) => void calls.push(callOf(stack)) });
  Error.stackTraceLimit = 100;
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
    Error.stackTraceLimit = limit;
    Reflect.deleteProperty(globalThis, noteName);
  }
  return calls;
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

function callOf(stack: string): Call {
  const urls = stack.split('\n').flatMap((line) => /(file:\/\/\S+?):\d+:\d+\)?$/.exec(line)?.[1] ?? []);
  const [file, ...callers] = urls.filter((url) => url.startsWith(root)).map((url) => relative(lib, fileURLToPath(url)));
  return { file: file!, callers };
}
