// How the process of a command ends: with the exit status of the command, at a signal, or because nobody reads on.

import { messageOf } from '../model/error.ts';
import { hasWaitingThreads } from '../model/waiting-threads.ts';
import type { PacedConsole } from './console.ts';

/** When a signal has asked to stop, what was printed is waited for so long at most. */
const lastLinesMs = 500;

export interface Ending {
  /** Ends the process with the exit status that a command resolves to, once what was printed has been taken. It prints errors. */
  finish(command: Promise<number>): Promise<void>;
  /** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
  untilStopped(): Promise<string>;
}

export function createEnding(host: NodeJS.Process, console: PacedConsole): Ending {
  let isStopping = false;

  host.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') host.exit(0); // nobody reads on, as in `patchbay watch … | head -1`
    console.printError(`standard output: expected to write to it, got ${message}`);
    host.exit(1);
  });
  host.stderr.on('error', () => {}); // nobody is left to be told

  /** Ends by the signal where a thread hangs although the hub has waited for it as long as it may: then the system does not. */
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
        setInterval(() => {}, 2 ** 31 - 1); // a hub of nothing but Dummies is one to wait for, too
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
