// `patchbay run`: starts a hub and stops it cleanly. Logs in a readable format on a terminal, and in JSON elsewhere.
import { Console } from 'node:console';
import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { memoryUsage } from 'node:process';
import { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { loadConnectionTypes, loadRehearsals } from '../../connections/connection-types.ts';
import { checkFlowFiles } from '../../flow/check/check.ts';
import { type FlowGuard, Hub, type HubLog, type HubOptions, startHub } from '../../hub/index.ts';
import { Journal } from '../../hub/journal.ts';
import { MistakeList } from '../../json5/mistake.ts';
import { HubError, messageOf } from '../../model/error.ts';
import { untilAllAnswered } from '../../model/waiting-threads.ts';
import { createLogFormat, type LogFormat, LogOutput, logFormats } from './log-output.ts';
import type { Supervisor } from './run-supervisor.ts';

export interface RunOptions {
  readonly logLevel: string;
  readonly logFormat: string;
  /** The file descriptor of the log. A pipe, socket or terminal must be non-blocking. */
  readonly logDescriptor: number;
  /** true means that a saved flow file is reloaded immediately. */
  readonly watch: boolean;
  /** true means that V8 compiles the code that handles changes as soon as the hub is running. */
  readonly warmUp: boolean;
  /** true means that rules are checked but do not run. */
  readonly safe?: boolean;
  /** The supervisor, which is notified when the hub is running and when it stops. */
  readonly supervisor: Supervisor;
  /** Creates the guard that keeps TypeScript flows from ending the hub's process. */
  createGuard(log: { readonly format: LogFormat; readonly descriptor: number }): FlowGuard;
  /** Calls back on each signal that requests a reload. */
  onReloadSignal(reload: () => void): void;
  /** Resolves to the name of the signal that requests the hub to stop. */
  untilStopped(): Promise<string>;
  /** Calls back when the process ends, for whatever reason. */
  onExit(work: () => void): void;
}

const levels = ['debug', 'info', 'warn', 'error'];
/** The maximum time in milliseconds that the hub may take after the signal to stop and to write its last log lines. */
const stopMs = 1900;
const lastLinesMs = 500;

/** Runs the tests in flow files that are edited in a browser. */
const runTests: HubOptions['runTests'] & {} = async (...asked) => {
  const { runTestsOf } = await import('../../testing/run-tests.ts');
  return runTestsOf(...asked);
};

/**
 * Runs a hub until it is stopped, and returns exit status 0. Errors: any error from `startHub`, and `bad-request` if the level or the
 * format is unknown.
 */
export async function run(paths: readonly string[], options: RunOptions): Promise<number> {
  const { logLevel, watch, safe = false, supervisor, createGuard, onReloadSignal, untilStopped, onExit } = options;
  if (!levels.includes(logLevel))
    throw new Error(`--log-level: expected one of ${levels.join(', ')}, got "${logLevel}"`);
  const logFormat = logFormats.find((format) => format === options.logFormat);
  if (logFormat === undefined)
    throw new Error(`--log-format: expected one of ${logFormats.join(', ')}, got "${options.logFormat}"`);
  const output = new LogOutput(options.logDescriptor, (sentence) => log.warn({}, sentence));
  onExit(() => output.flushSync());
  const log = createLog(logLevel, logFormat, output);
  globalThis.console = createConsole(log);
  const stopped = untilStopped();
  const guard = createGuard({ format: logFormat, descriptor: options.logDescriptor });
  const starting = startHub({ paths, log, watch, safe, guard, runTests });
  // a signal during the start, when files may have been read already, causes a reload as soon as the hub is running
  onReloadSignal(() => void starting.then((hub) => hub.reload()).catch(() => {})); // the hub has logged the reason
  const hub = await starting;
  supervisor.ready();
  returnMemoryWhenCalm();
  if (options.warmUp) void warmUpAndReport(log, new Set(hub.connections().map(({ type }) => type)));
  log.info({}, `stopping: ${await stopped}`);
  supervisor.stopping();
  const endMs = performance.now() + stopMs;
  await hub.stop();
  log.info({}, 'stopped');
  await output.flush(Math.min(lastLinesMs, endMs - performance.now()));
  await untilAllAnswered(endMs - performance.now());
  return 0;
}

async function warmUpAndReport(log: Journal, types: ReadonlySet<string>): Promise<void> {
  const startMs = performance.now();
  try {
    await warmUp(types);
    log.debug({}, `warmed up in ${Math.round(performance.now() - startMs)} ms`);
  } catch (error) {
    const sentence = `warm-up failed; the first changes will take longer: ${messageOf(error)}`;
    if (error instanceof HubError)
      log.debug({}, sentence); // the hub reports the error if it matters
    else log.warn({}, sentence);
  }
}

/** Creates the hub's log, which writes each entry in the given format. */
function createLog(level: string, format: LogFormat, output: LogOutput): Journal {
  const formatEntry = createLogFormat(format);
  const write = (entry: string) => output.write(formatEntry(entry));
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
  return Journal.of(Object.assign(log, { status: () => output.status }));
}

/** Creates the console for TypeScript flow files. Its output goes to the log, which never blocks. */
function createConsole(log: Journal): Console {
  const writing = (level: 'info' | 'warn') =>
    new Writable({
      write(chunk, _, done) {
        log[level]({}, String(chunk).trimEnd());
        done();
      },
    });
  return new Console({ stdout: writing('info'), stderr: writing('warn') });
}

// Makes V8 return memory after a burst. V8 keeps tens of MiB of free heap pages, and returns them to the system only when it collects
// garbage to save memory: by default about a minute after the last burst, or never. This works in Node.js 22 and 24; V8 in Node.js 26
// keeps the memory anyway.

const lookMs = 500;
/**
 * The share of time above which a thread counts as busy. Between `calmShare` and this share, the load is steady: saving memory would take a
 * third more time, and V8 would soon allocate the returned memory again.
 */
const busyShare = 0.5;
/** The share of time below which a thread counts as calm. */
const calmShare = 0.1;
/**
 * The growth factor of the process's memory beyond which memory is returned once after a burst, even during a steady load: with so little
 * garbage, V8 would not collect the memory for hours.
 */
const grownTimes = 1.5;
/** The minimum time between two such returns, in milliseconds. */
const steadyEveryMs = 60_000;
/**
 * The heap size, in bytes, below which the memory used during startup and warm-up is returned immediately, unless there has already been
 * load.
 */
const quickHeapBytes = 48 * 1024 * 1024;
/**
 * How long V8 is made to save memory, in milliseconds. V8 checks every 8 s whether to save memory, and works in small steps; this time
 * covers two checks.
 */
const savingMs = 20_000;

/** Makes V8 save memory for a while whenever this thread has become idle. */
export function returnMemoryWhenCalm(): void {
  let before = performance.eventLoopUtilization();
  let savingUntil = 0;
  let wasBusy = true; // the process has just started
  let isNew = true;
  let bytesBefore = memoryUsage.rss();
  let steadyAgainMs = 0;
  const look = () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    const isBusy = utilization >= busyShare;
    before = now;
    const nowMs = performance.now();
    const bytes = memoryUsage.rss();
    const isOver = wasBusy && !isBusy;
    const isCalm = isOver && utilization < calmShare;
    const isSteady = isOver && nowMs >= steadyAgainMs && bytes > grownTimes * bytesBefore;
    if (isCalm && isNew && memoryUsage().heapUsed < quickHeapBytes) {
      collectGarbage();
      wasBusy = false;
    } else if (isCalm || isSteady) {
      setFlagsFromString('--optimize-for-size');
      savingUntil = nowMs + savingMs;
      wasBusy = false;
    } else if (savingUntil > 0 && (isBusy || nowMs >= savingUntil)) {
      setFlagsFromString('--no-optimize-for-size'); // saving costs time under load
      // Restores a flag that changed with the flag above: V8 reads it only at startup, but compares it before accepting cached code.
      setFlagsFromString('--max-semi-space-size=0');
      if (savingUntil - nowMs < savingMs / 2) steadyAgainMs = nowMs + steadyEveryMs;
      savingUntil = 0;
    }
    if (isCalm) isNew = false;
    if (isBusy) wasBusy = true;
    else if (!wasBusy && savingUntil === 0) bytesBefore = bytes;
  };
  setInterval(look, lookMs).unref();
}

declare global {
  interface ImportMeta {
    /** Retains the package's compiled code (code-loader.ts), because V8 would drop functions that have not run for a while. */
    readonly keepCode?: () => void;
  }
}

/** Makes V8 return all free memory immediately, which takes some 40 ms for a heap of this size. */
function collectGarbage(): void {
  import.meta.keepCode?.();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}

// Warms up: makes V8 compile the code path of a change, from socket to socket, as soon as the hub is running. Otherwise V8 would compile it
// in the first ten seconds under load, on cores that the hub and its clients need, and the p99 latency would double. Each round of the
// warm-up is a round of the event loop, which also serves clients.

/**
 * The number of temporary hubs that run one after another, because code that V8 compiles for the first hub assumes that there is no other
 * hub.
 */
const hubs = 3;
// Under load, rounds of the event loop are longer: with few changes per round, the warm-up would cost clients seconds.
const rounds = 200;
const changesPerRound = 50;
const deadlineMs = 5000;
const endOfFrame = '}'.charCodeAt(0);
const closeFrame = Buffer.of(0x88, 0x80, 0, 0, 0, 0);

const flow = {
  connections: {
    api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1', console: false },
    desk: { type: 'dummy', parameters: ['level,F', 'lamp,B', 'scene,S'] },
  },
};

/**
 * Runs temporary hubs for a quarter of a second, or about half a second on a busy machine, each with a local client that makes and receives
 * changes. `types` contains the connection types whose work per change is also rehearsed. Errors: any error from opening a port on
 * 127.0.0.1.
 */
export async function warmUp(types: ReadonlySet<string> = new Set()): Promise<void> {
  const signal = AbortSignal.timeout(deadlineMs);
  try {
    for (let count = 0; count < hubs; count++) await runHub(count % 2 === 1 ? '/ws?list=true' : '/ws', types, signal);
  } catch (error) {
    if (!signal.aborted) throw error; // the machine is busy
  }
}

async function runHub(path: string, types: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
  let port = 0;
  const ignore = () => {};
  const noticePort = (data: object) => {
    if ('port' in data) port = data.port as number;
  };
  const log: HubLog = { debug: ignore, info: noticePort, warn: ignore, error: ignore, child: () => log };
  const rehearsed = await loadRehearsals(types);
  const others = Object.fromEntries(rehearsed.map(({ type }) => [type, { type }]));
  const data = { connections: { ...flow.connections, ...others } };
  const file = { name: 'warm-up', folder: '.', data, positionOf: () => undefined };
  const own = await loadConnectionTypes(new Set(Object.values(flow.connections).map(({ type }) => type)));
  const known = new Map([...own, ...rehearsed.map((type) => [type.type, type] as const)]);
  const hub = await Hub.run(checkFlowFiles([file], known, new MistakeList()), { log });
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  socket.on('error', () => {}); // the connection may break at any time, even while nothing awaits it
  try {
    await exchangeChanges(socket, path, signal);
    socket.end(closeFrame);
    await once(socket, 'close', { signal }); // without clients, the hub stops immediately
  } finally {
    socket.destroy();
    if (!socket.closed) await once(socket, 'close');
    await hub.stop();
  }
}

/**
 * Makes changes through a plain WebSocket client, which receives the changes one by one or in lists. A round starts when all changes in the
 * previous round have been received.
 */
async function exchangeChanges(socket: Socket, path: string, signal: AbortSignal): Promise<void> {
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: d2FybS11cCBvZiBhIGh1Yg==\r\n\r\n',
  );
  await once(socket, 'data', { signal });
  const finished = new EventEmitter();
  let [sent, received] = [0, 0];
  const sendRound = () => {
    const frames = Array.from({ length: changesPerRound }, () => changeFrame(sent++));
    socket.write(Buffer.concat(frames));
  };
  socket.on('data', (bytes) => {
    for (const byte of bytes) if (byte === endOfFrame) received++;
    if (received < sent) return;
    if (sent < rounds * changesPerRound) sendRound();
    else finished.emit('end');
  });
  socket.once('close', () => finished.emit('end')); // the client has disconnected: enough code is compiled by now
  sendRound();
  await once(finished, 'end', { signal });
}

/**
 * Returns a WebSocket text frame (RFC 6455) from a client, masked with zeros. The frame consists mostly of numbers, each of which is a
 * change.
 */
function changeFrame(number: number): Buffer {
  const payload = Buffer.from(JSON.stringify(changeOf(number)));
  return Buffer.concat([Buffer.of(0x81, 0x80 | payload.length, 0, 0, 0, 0), payload]);
}

function changeOf(number: number): { p: string; v: string } {
  const tens = Math.floor(number / 10);
  if (number % 10 === 8) return { p: 'desk/lamp', v: `${tens % 2}` };
  if (number % 10 === 9) return { p: 'desk/scene', v: `scene ${tens}` };
  return { p: 'desk/level', v: `${number / 1000}` };
}
