// How the process of a command ends: with the command's exit status, on a signal, or when its output is closed.

import { messageOf } from '../model/error.ts';
import { hasWaitingThreads } from '../model/waiting-threads.ts';
import type { PacedConsole } from './console.ts';

/** How long the process waits for its output to be read after a signal, in milliseconds. */
const lastLinesMs = 500;

export interface Ending {
  /** Prints the command's error, if any. Ends the process with the command's exit status as soon as all output has been read. */
  finish(command: Promise<number>): Promise<void>;
  /** Resolves on the first SIGINT or SIGTERM. A second signal ends the process immediately. */
  untilStopped(): Promise<string>;
}

export function createEnding(host: NodeJS.Process, console: PacedConsole): Ending {
  let isStopping = false;

  host.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') host.exit(0); // the reader is gone, as in `patchbay watch … | head -1`
    console.printError(`cannot write to standard output: ${message}`);
    host.exit(1);
  });
  host.stderr.on('error', () => {}); // the error cannot be reported anywhere

  /**
   * Ends the process with a signal if a thread still hangs after the hub has waited for it, because a normal exit would wait for the
   * thread.
   */
  const leaveWaitingThreads = () => {
    if (!hasWaitingThreads()) return;
    host.removeAllListeners('SIGTERM');
    host.kill(host.pid, 'SIGTERM');
  };

  return {
    async finish(command) {
      try {
        host.exitCode = await command;
      } catch (error) {
        console.printError(messageOf(error));
        host.exitCode = 1;
      }
      if (isStopping) setTimeout(() => host.exit(), lastLinesMs);
      await console.whenTaken();
      host.exit();
    },
    untilStopped: () =>
      new Promise((resolve) => {
        setInterval(() => {}, 2 ** 31 - 1); // keeps the process alive, even if the hub has only dummies
        for (const signal of ['SIGINT', 'SIGTERM'] as const)
          host.once(signal, () => {
            isStopping = true;
            host.once('exit', leaveWaitingThreads);
            host.once(signal, () => host.exit(130));
            resolve(signal);
          });
      }),
  };
}
