// `patchbay run`: starts a hub and stops it cleanly. It logs for people on a terminal, and for machines elsewhere.
import { Console } from 'node:console';
import { performance } from 'node:perf_hooks';
import { memoryUsage } from 'node:process';
import { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { pino } from 'pino';
import { Journal } from '../../hub/journal.ts';
import { type FlowGuard, startHub } from '../../hub.ts';
import { HubError, messageOf } from '../../model/error.ts';
import { untilAllAnswered } from '../../model/waiting-threads.ts';
import { createLogFormat, type LogFormat, logFormats } from './log-format.ts';
import { LogOutput } from './log-output.ts';
import type { Supervisor } from './supervisor.ts';
import { warmUp } from './warm-up.ts';

export interface RunOptions {
  readonly logLevel: string;
  readonly logFormat: string;
  /** The descriptor that the log is written to; it must not block where it can be full. */
  readonly logDescriptor: number;
  /** Whether a save of a flow file takes effect at once. */
  readonly watch: boolean;
  /** Whether V8 compiles the way of a change before the hub starts. */
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
  const starting = startHub({
    ...{ paths, log, watch, safe, guard },
    ...(options.warmUp && { warmUp: () => warmUpAndTell(log) }),
  });
  // a signal that comes sooner, when files may have been read already, has the hub reload as soon as it runs
  onReloadSignal(() => void starting.then((hub) => hub.reload()).catch(() => {})); // the hub has logged why
  const hub = await starting;
  giveBackWhenCalm();
  supervisor.ready();
  log.info({}, `stopping: ${await stopped}`);
  supervisor.stopping();
  const endMs = performance.now() + stopMs;
  await hub.stop();
  log.info({}, 'stopped');
  await output.flush(Math.min(lastLinesMs, endMs - performance.now()));
  await untilAllAnswered(endMs - performance.now());
  return 0;
}

async function warmUpAndTell(log: Journal): Promise<void> {
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
/** V8 looks every 8 s whether it should save memory, and does so in small steps; it has done so twice after so long. */
const savingMs = 20_000;

/** Has V8 save memory for a while, each time this thread has been busy and is so no more. */
export function giveBackWhenCalm(): void {
  let before = performance.eventLoopUtilization();
  let savingUntil = 0;
  let wasBusy = false;
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
    if (isCalm || isSteady) {
      setFlagsFromString('--optimize-for-size');
      savingUntil = nowMs + savingMs;
      wasBusy = false;
    } else if (savingUntil > 0 && (isBusy || nowMs >= savingUntil)) {
      setFlagsFromString('--no-optimize-for-size'); // saving costs time under load
      if (savingUntil - nowMs < savingMs / 2) steadyAgainMs = nowMs + steadyEveryMs;
      savingUntil = 0;
    }
    if (isBusy) wasBusy = true;
    else if (!wasBusy && savingUntil === 0) bytesBefore = bytes;
  };
  setInterval(look, lookMs).unref();
}
