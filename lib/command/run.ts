// `patchbay run`: starts a hub, logs for people on a terminal and for machines elsewhere, stops it cleanly.

import { pino } from 'pino';
import pretty from 'pino-pretty';
import { startHub } from '../hub.ts';
import { messageOf } from '../model/error.ts';
import type { Console } from './console.ts';
import { warmUp } from './warm-up.ts';

export interface RunOptions {
  readonly logLevel: string;
  readonly logFormat: string;
  readonly console: Console;
  /** Whether a save of a flow file takes effect at once. */
  readonly watch: boolean;
  /** Whether no rule runs. */
  readonly safe?: boolean;
  /** Calls back at each signal that asks for a reload. */
  onReloadSignal(reload: () => void): void;
  /** Resolves to the name of the signal that asks the hub to stop. */
  untilStopped(): Promise<string>;
}

const levels = ['debug', 'info', 'warn', 'error'];
const formats = ['pretty', 'json'];

/** Runs until stopped; exit status 0. Errors: those of `startHub`, and `bad-request` for an unknown level or format. */
export async function run(paths: readonly string[], options: RunOptions): Promise<number> {
  const { logLevel, logFormat, watch, safe = false, onReloadSignal, untilStopped } = options;
  if (!levels.includes(logLevel))
    throw new Error(`--log-level: expected one of ${levels.join(', ')}, got "${logLevel}"`);
  if (!formats.includes(logFormat))
    throw new Error(`--log-format: expected one of ${formats.join(', ')}, got "${logFormat}"`);
  const settings = { level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const log =
    logFormat === 'json'
      ? pino(settings, pino.destination({ sync: true }))
      : pino(
          settings,
          pretty({
            sync: true,
            colorize: true,
            translateTime: 'SYS:HH:MM:ss.l',
            singleLine: true,
            ignore: 'connection',
          }),
        );
  const stopped = untilStopped();
  await warmUp().catch((error) => log.warn({}, `not warmed up, the first changes take longer: ${messageOf(error)}`));
  const hub = await startHub({ paths, log, watch, safe });
  onReloadSignal(() => void hub.reload().catch(() => {})); // the hub has logged why
  log.info(`stopping: ${await stopped}`);
  await hub.stop();
  log.info('stopped');
  return 0;
}
