// Starts, hears and ends the keyboard's own process. What it says is checked; when it ends, so does the Observable.

import { fork } from 'node:child_process';
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
 * Runs the process: cold, emits what it says, never completes. Errors: `ProcessEnded`; when `toProcess$` errs, that error,
 * once the process has been ended by force. Unsubscribing lets it finish the press under way and ends it, by force after a
 * second; `finish` is given its end, with the signal or exit code.
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
    let lastWords = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      lastWords = `${lastWords} ${text}`.replaceAll(/\s+/g, ' ').trim().slice(-maxLastWords);
    });
    // Not 'close': after a disconnect from this side it does not come. What it said last is heard by 'disconnect'.
    const end = Promise.all([
      new Promise<string>((resolve) => child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))),
      new Promise((resolve) => child.stderr?.once('close', resolve)),
      new Promise((resolve) => child.once('disconnect', resolve)),
    ]).then(([how]) => how);
    let reason: unknown;
    const tellEnd = (how: string) =>
      subscriber.error(reason ?? new ProcessEnded([how, lastWords].filter((part) => part !== '').join(': ')));
    let hasEnded = false;
    end.then((how) => {
      hasEnded = true;
      tellEnd(how);
    });
    child.on('error', (error) => child.pid === undefined && tellEnd(error.message));
    child.on('message', (message) => {
      const said = fromProcess.safeParse(message);
      if (said.success) subscriber.next(said.data); // all else is Node's own: with --watch it reports imports here
    });
    subscriber.add(
      toProcess$.subscribe({
        next: (message) => void child.send(message, () => {}), // a process that is gone tells by its end
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
