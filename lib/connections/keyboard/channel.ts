// Starts the keyboard's own process, hears what it says, and ends it. Each message of the process is checked. When the process
// ends, the Observable errs.

import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { Observable, type SchedulerLike, timer } from 'rxjs';
import { type FromProcess, fromProcess, type ToProcess } from './messages.ts';

/** A process that does not end by itself within this time is killed. */
const exitDeadlineMs = 1000;
const maxLastWords = 300;

/** The program of that process: `.ts` where Node strips types, `.js` in the package. */
const program = new URL(`./process/main${extname(import.meta.filename)}`, import.meta.url);

/** How the process ended, with what it wrote last: `SIGABRT: XOpenDisplay failure!`. */
export class ProcessEnded extends Error {}

/**
 * Runs the process. Cold, emits what it says, never completes. Errors: `ProcessEnded`; or the error of `toProcess$`, once the
 * process has been ended by force. Unsubscribing lets it finish the press under way and ends it, by force after a second;
 * `finish` gets its end, with the signal or exit code.
 */
export function runProcess(
  toProcess$: Observable<ToProcess>,
  { scheduler, finish }: { scheduler: SchedulerLike; finish(end: Promise<string>): void },
): Observable<FromProcess> {
  return new Observable((subscriber) => {
    const child = fork(program, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const lastWords = hearLastWords(child);
    let reason: unknown;
    const tellEnd = (how: string) =>
      subscriber.error(reason ?? new ProcessEnded([how, lastWords()].filter((part) => part !== '').join(': ')));
    let hasEnded = false;
    const end = endOf(child);
    end.then((how) => {
      hasEnded = true;
      tellEnd(how);
    });
    child.on('error', (error) => child.pid === undefined && tellEnd(error.message));
    child.on('message', (message) => {
      const said = fromProcess.safeParse(message);
      if (said.success) subscriber.next(said.data); // other messages are Node's own: with --watch it reports imports here
    });
    subscriber.add(
      toProcess$.subscribe({
        // a process that is gone tells so by its end; one that could not be made has no channel
        next: (message) => void child.send?.(message, () => {}),
        error: (error) => {
          reason = error;
          child.kill('SIGKILL');
        },
      }),
    );
    return () => {
      if (child.pid === undefined || hasEnded) return;
      if (child.connected) child.disconnect();
      const kill = timer(exitDeadlineMs, scheduler).subscribe({ next: () => void child.kill('SIGKILL') });
      end.then(() => kill.unsubscribe());
      finish(end);
    };
  });
}

/** Keeps what the process wrote last to its standard error, on one line. */
function hearLastWords(child: ChildProcess): () => string {
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = `${lastWords} ${text}`.replaceAll(/\s+/g, ' ').trim().slice(-maxLastWords);
  });
  return () => lastWords;
}

/**
 * Resolves with the signal or exit code, once everything that the process said and wrote has been heard. It does not wait for
 * `close`: that does not come after a disconnect from this side.
 */
async function endOf(child: ChildProcess): Promise<string> {
  const [how] = await Promise.all([
    new Promise<string>((resolve) => child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))),
    new Promise((resolve) => child.stderr?.once('close', resolve)),
    new Promise((resolve) => child.once('disconnect', resolve)),
  ]);
  return how;
}
