// `patchbay run`: starts a hub and stops it cleanly. It logs for people on a terminal, and for machines elsewhere.
import { Console } from 'node:console';
import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { memoryUsage } from 'node:process';
import { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { connectionTypes } from '../../connections/connection-types.ts';
import { checkFlowFiles } from '../../flow/check/check.ts';
import { type FlowGuard, Hub, type HubLog, startHub } from '../../hub/index.ts';
import { Journal } from '../../hub/journal.ts';
import { MistakeList } from '../../json5/mistake.ts';
import { HubError, messageOf } from '../../model/error.ts';
import { untilAllAnswered } from '../../model/waiting-threads.ts';
import { createLogFormat, type LogFormat, logFormats } from './log-format.ts';
import { LogOutput } from './log-output.ts';
import type { Supervisor } from './run-supervisor.ts';

export interface RunOptions {
  readonly logLevel: string;
  readonly logFormat: string;
  /** The descriptor that the log is written to; it must not block where it can be full. */
  readonly logDescriptor: number;
  /** Whether a save of a flow file takes effect at once. */
  readonly watch: boolean;
  /** Whether V8 compiles the way of a change as soon as the hub runs. */
  readonly warmUp: boolean;
  /** Whether no rule runs. */
  readonly safe?: boolean;
  /** Hears that the hub runs, and that it stops. */
  readonly supervisor: Supervisor;
  /** Creates the guard of flows in TypeScript, in the process that runs the hub. */
  createGuard(log: { readonly format: LogFormat; readonly descriptor: number }): FlowGuard;
  /** Calls back at each signal that asks for a reload. */
  onReloadSignal(reload: () => void): void;
  /** Resolves to the name of the signal that asks the hub to stop. */
  untilStopped(): Promise<string>;
  /** Calls back when the process ends, for whatever reason. */
  onExit(work: () => void): void;
}

const levels = ['debug', 'info', 'warn', 'error'];
/** How long the hub has to stop, from the signal on, and how long its last lines of the log may take to be written. */
const stopMs = 1900;
const lastLinesMs = 500;

/** Runs until stopped; exit status 0. Errors: those of `startHub`, and `bad-request` for an unknown level or format. */
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
  const starting = startHub({ paths, log, watch, safe, guard });
  // a signal that comes sooner, when files may have been read already, has the hub reload as soon as it runs
  onReloadSignal(() => void starting.then((hub) => hub.reload()).catch(() => {})); // the hub has logged why
  const hub = await starting;
  supervisor.ready();
  giveBackWhenCalm();
  if (options.warmUp) void warmUpAndReport(log);
  log.info({}, `stopping: ${await stopped}`);
  supervisor.stopping();
  const endMs = performance.now() + stopMs;
  await hub.stop();
  log.info({}, 'stopped');
  await output.flush(Math.min(lastLinesMs, endMs - performance.now()));
  await untilAllAnswered(endMs - performance.now());
  return 0;
}

async function warmUpAndReport(log: Journal): Promise<void> {
  const startMs = performance.now();
  try {
    await warmUp();
    log.debug({}, `warmed up in ${Math.round(performance.now() - startMs)} ms`);
  } catch (error) {
    const sentence = `not warmed up, the first changes take longer: ${messageOf(error)}`;
    if (error instanceof HubError)
      log.debug({}, sentence); // the hub says so itself if it matters
    else log.warn({}, sentence);
  }
}

/** The log of a hub as entries in JSON, each of which is written in the format. */
function createLog(level: string, format: LogFormat, output: LogOutput): Journal {
  const formatEntry = createLogFormat(format);
  const write = (entry: string) => output.write(formatEntry(entry));
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
  return Journal.of(Object.assign(log, { status: () => output.status }));
}

/** The console of flow files in TypeScript: what they print goes to the log, which keeps nobody waiting. */
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

// Has V8 give back what a burst has left. It keeps the pages of a heap that has shrunk for later, tens of MiB of them, and hands
// them to the system only when it collects garbage to save memory: of itself about a minute after the last burst, or never.
// Node.js 22 and 24 do what is asked here; in Node.js 26 V8 keeps the memory for the next burst all the same.

const lookMs = 500;
/**
 * A thread is busy that works for this share of its time, and calm again with so little. Between them lies a steady load: to save
 * memory under it takes a third more time, and what is given back is taken again.
 */
const busyShare = 0.5;
const calmShare = 0.1;
/**
 * But what a burst has left over a steady load goes back, once: as long as there is so little garbage, V8 would not collect it for hours. It is
 * so when the process holds more than so many times what it held before, and not sooner than so long after V8 has saved memory.
 */
const grownTimes = 1.5;
const steadyEveryMs = 60_000;
/** What a start and the warm-up have left goes back at once where the heap is no larger, and nobody has come yet. */
const quickHeapBytes = 48 * 1024 * 1024;
/** V8 looks every 8 s whether it should save memory, and does so in small steps; it has done so twice after so long. */
const savingMs = 20_000;

/** Has V8 save memory for a while, each time this thread has been busy and is so no more. */
export function giveBackWhenCalm(): void {
  let before = performance.eventLoopUtilization();
  let savingUntil = 0;
  let wasBusy = true; // it has started
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
      setFlagsFromString('--max-semi-space-size=0'); // goes with it, and is read at the start alone, by which V8 knows code that was kept
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
    /** Keeps the compiled code of the package (code-loader.ts), of which V8 drops what has not run for a while. */
    readonly keepCode?: () => void;
  }
}

/** Has V8 give back at once what it can, which takes some 40 ms of a heap of this size. */
function collectGarbage(): void {
  import.meta.keepCode?.();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}

// Lets V8 compile the way of a change, from socket to socket, as soon as the hub runs. Otherwise V8 would compile it in the first ten
// seconds under load, on cores that the hub and its clients need, and p99 latency would be twice as high. Each round of it is a round of the
// event loop, in which clients are served as well.

/** Hubs run one after another: code that V8 compiles for the first one alone assumes that there is no other. */
const hubs = 3;
const rounds = 1000;
const changesPerRound = 10;
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
 * Runs hubs of its own for a quarter of a second, or about half a second on a busy machine, each with a client on this machine
 * that makes and hears changes. Errors: when nobody can listen on 127.0.0.1.
 */
export async function warmUp(): Promise<void> {
  const signal = AbortSignal.timeout(deadlineMs);
  try {
    for (let count = 0; count < hubs; count++) await runHub(count % 2 === 1 ? '/ws?list=true' : '/ws', signal);
  } catch (error) {
    if (!signal.aborted) throw error; // the machine is busy, nothing is wrong
  }
}

async function runHub(path: string, signal: AbortSignal): Promise<void> {
  let port = 0;
  const ignore = () => {};
  const noticePort = (data: object) => {
    if ('port' in data) port = data.port as number;
  };
  const log: HubLog = { debug: ignore, info: noticePort, warn: ignore, error: ignore, child: () => log };
  const file = { name: 'warm-up', folder: '.', data: flow, positionOf: () => undefined };
  const hub = await Hub.run(checkFlowFiles([file], connectionTypes, new MistakeList()), { log });
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  socket.on('error', () => {}); // it may break at any time, also while nobody waits for it
  try {
    await exchangeChanges(socket, path, signal);
    socket.end(closeFrame);
    await once(socket, 'close', { signal }); // then the hub has no client and stops at once
  } finally {
    socket.destroy();
    if (!socket.closed) await once(socket, 'close');
    await hub.stop();
  }
}

/** Makes changes as a plain client does, and is told them one by one or in lists. A round begins when all of the round before are back. */
async function exchangeChanges(socket: Socket, path: string, signal: AbortSignal): Promise<void> {
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: d2FybS11cCBvZiBhIGh1Yg==\r\n\r\n',
  );
  await once(socket, 'data', { signal });
  const finished = new EventEmitter();
  let [sent, back] = [0, 0];
  const sendRound = () => {
    const frames = Array.from({ length: changesPerRound }, () => changeFrame(sent++));
    socket.write(Buffer.concat(frames));
  };
  socket.on('data', (bytes) => {
    for (const byte of bytes) if (byte === endOfFrame) back++;
    if (back < sent) return;
    if (sent < rounds * changesPerRound) sendRound();
    else finished.emit('end');
  });
  socket.once('close', () => finished.emit('end')); // it broke: what is compiled by now is enough
  sendRound();
  await once(finished, 'end', { signal });
}

/** A text frame as clients send it (RFC 6455), masked with zeros: mostly numbers, each of them a change. */
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
