// `patchbay record`: records all events that reach a running hub from outside in a file, line by line, so that written lines survive if
// the command is killed. `patchbay replay` runs flows on the recording.
import { open } from 'node:fs/promises';
import { counted, fixedText, groupDigits } from '../../model/digits.ts';
import { messageOf } from '../../model/error.ts';
import { printable } from '../../model/printable.ts';
import { readDurationMs } from '../../model/time/duration.ts';
import { toIsoTime } from '../../wire/time.ts';
import { type Cli, command, remoteCommand } from '../cli.ts';
import type { Console } from '../console.ts';
import { defaultFolder } from '../first-steps.ts';
import { type RemoteOptions, respond } from './ask-hub.ts';
import { describeDeviation } from './shadow-command.ts';

export function register(cli: Cli): void {
  const { console, finish, untilStopped } = cli;
  remoteCommand(cli, 'record', 'record all external events on a running hub to a file until interrupted')
    .option('--for <duration>', 'maximum duration, such as 1h')
    .option('--max-bytes <count>', 'maximum size of the file in bytes', '1000000000')
    .argument('<file>', 'the recording to write; it must not exist yet')
    .action((file: string, options: RecordOptions) => finish(record(file, options, console, untilStopped)));
  command(
    cli,
    'replay',
    'replay a recording in virtual time with two versions of the flow files, and print the differences',
  )
    .argument('<file>', 'the recording')
    .argument('[paths...]', 'current flow files and folders', [defaultFolder])
    .requiredOption('--flows <paths...>', 'changed flow files and folders')
    .option('--limit <count>', 'print at most this many differences, starting with the first', '1000')
    .action((file: string, paths: string[], options: ReplayOptions) => finish(replay(file, paths, options, console)));
}

interface RecordOptions extends RemoteOptions {
  /** The maximum duration of the recording, such as `1h`. If omitted, the command records until it is stopped. */
  readonly for?: string;
  readonly maxBytes: string;
}

/**
 * Records the events that reach a hub from outside until the command is stopped, the time limit is reached or the file is full. Errors: any
 * error from the hub or the file, and a lost connection.
 */
export async function record(
  file: string,
  options: RecordOptions,
  console: Console,
  untilStopped: () => Promise<unknown>,
): Promise<number> {
  const maxBytes = Number(options.maxBytes);
  if (!(maxBytes > 0)) throw new Error(`--max-bytes: expected a number of bytes, got "${options.maxBytes}"`);
  const forMs = options.for === undefined ? Number.POSITIVE_INFINITY : durationMs(options.for);
  const ending = new AbortController();
  const handle = await open(file, 'wx').catch((error) => {
    throw new Error(`${file}: cannot create the file: ${messageOf(error)}`);
  });
  let bytes = 0;
  let reason = '';
  const end = (why: string) => {
    reason ||= why;
    ending.abort();
  };
  void untilStopped().then(() => end('stopped'));
  const timer = forMs < 2 ** 31 ? setTimeout(() => end('the time limit was reached'), forMs) : undefined;
  try {
    const { body } = await respond(options, '/hub/record', { signal: ending.signal });
    for await (const piece of body!) {
      const text = Buffer.from(piece);
      const room = text.subarray(0, maxBytes - bytes);
      const whole = room.length === text.length ? text : room.subarray(0, room.lastIndexOf(0x0a) + 1);
      await handle.writeFile(whole);
      bytes += whole.length;
      if (whole.length < text.length) end(`the limit of ${maxBytes} bytes was reached`);
      if (ending.signal.aborted) break;
    }
    if (reason === '') throw new Error('the hub ended the recording: see the log of the hub for the reason');
  } catch (error) {
    if (reason === '') throw new Error(`${file}: recording failed after ${bytes} bytes: ${messageOf(error)}`);
  } finally {
    clearTimeout(timer);
    await handle.close();
  }
  console.print(printable(`${file}: ${bytes} bytes, ${reason}`));
  return 0;
}

interface ReplayOptions {
  /** The changed flow files, and folders with such files. */
  readonly flows: readonly string[];
  readonly limit: string;
  /** The maximum number of deviations that are kept in memory. The default is 100,000. */
  readonly most?: number;
}

/**
 * Replays a recording, and prints how the changed flows deviate from the current flows. Errors: any error in the flow files, and a damaged
 * line in the recording.
 */
export async function replay(
  file: string,
  paths: readonly string[],
  { flows, limit, most }: ReplayOptions,
  console: Console,
): Promise<number> {
  if (!/^[1-9]\d*$/.test(limit)) throw new Error(`--limit: expected a number of at least 1, got "${limit}"`);
  const { loadFlows } = await import('../../hub/index.ts');
  const { openRecording, replay: replayRecording } = await import('../../replay/replay.ts');
  const plan = await loadFlows(paths);
  const changed = await loadFlows(flows);
  const recording = await openRecording(file);
  const { deviations, lastedMs, turns, writes, unknown } = await replayRecording(recording, plan, changed, most);
  const kept = deviations.list();
  const shown = kept.slice(0, Number(limit));
  const [lost, more] = [deviations.count - kept.length, kept.length - shown.length];
  if (lost > 0)
    console.print(`only the newest ${groupDigits(kept.length)} of ${counted(deviations.count, 'deviation')} were kept`);
  for (const { time, address, ...rest } of shown)
    console.print(printable(describeDeviation({ time: toIsoTime(time), parameter: address, ...rest })));
  if (more > 0) console.print(`… and ${more} more: raise --limit to show all`);
  for (const { address, count, differs } of deviations.counts())
    console.print(printable(`${address}: ${counted(count, 'deviation')}${differs ? ', different at the end' : ''}`));
  if (unknown > 0) console.print(`skipped ${counted(unknown, 'write')} to parameters that neither version has`);
  const seconds = fixedText(lastedMs / 1000, 0);
  const reached = `${counted(turns, 'turn')} and ${counted(writes, 'external write')}`;
  console.print(`${counted(deviations.count, 'deviation')} in ${seconds} s, ${reached}`);
  return 0;
}

/** Reads a duration in milliseconds. Throws if the string is not a duration. */
function durationMs(text: string): number {
  try {
    return readDurationMs(text);
  } catch (error) {
    throw new Error(`--for: ${messageOf(error)}`);
  }
}
