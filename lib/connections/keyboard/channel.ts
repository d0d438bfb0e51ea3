// Starts, hears and ends the keyboard's own process. What it says is checked; when it ends, so does the Observable.

import { fork } from 'node:child_process';
import { extname } from 'node:path';
import { Observable, timer } from 'rxjs';
import type { ConnectionContext } from '../connection.ts';
import { type FromProcess, fromProcess, type ToProcess } from './messages.ts';

/** A process that does not end by itself within this time is killed. */
const exitDeadlineMs = 1000;
const maxLastWords = 300;

/** The sibling program: `.ts` where Node strips types, `.js` in the package. */
const program = new URL(`./child${extname(import.meta.filename)}`, import.meta.url);

/** How the process ended, with what it wrote last: `SIGABRT: XOpenDisplay failure!`. */
export class ProcessEnded extends Error {}

/**
 * Runs the process: cold, emits what it says, never completes. Errors: `ProcessEnded`. Unsubscribing lets it finish the
 * press under way and ends it, by force after a second; `finish` is given its end.
 */
export function runProcess(
  toProcess$: Observable<ToProcess>,
  { scheduler, finish }: Pick<ConnectionContext<unknown>, 'scheduler' | 'finish'>,
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
    // Not 'close': after a disconnect from this side it does not come.
    const end = Promise.all([
      new Promise<string>((resolve) => child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))),
      new Promise((resolve) => child.stderr?.once('close', resolve)),
    ]);
    const tellEnd = (how: string) =>
      subscriber.error(new ProcessEnded([how, lastWords].filter((part) => part !== '').join(': ')));
    end.then(([how]) => tellEnd(how));
    child.on('error', (error) => child.pid === undefined && tellEnd(error.message));
    child.on('message', (message) => {
      const said = fromProcess.safeParse(message);
      if (said.success) subscriber.next(said.data); // all else is Node's own: with --watch it reports imports here
    });
    subscriber.add(
      toProcess$.subscribe({
        next: (message) => void child.send(message, () => {}), // a process that is gone tells by its end
        error: (error) => subscriber.error(error),
      }),
    );
    return () => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      if (child.connected) child.disconnect();
      const kill = timer(exitDeadlineMs, scheduler).subscribe({ next: () => void child.kill('SIGKILL') });
      finish(end.then(() => kill.unsubscribe()));
    };
  });
}
