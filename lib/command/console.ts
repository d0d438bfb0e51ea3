// What commands print with: lines for people to standard output, complaints to standard error.

import type { Writable } from 'node:stream';

export interface Console {
  print(text: string): void;
  printError(text: string): void;
}

/** One whose reader may be slow. */
export interface PacedConsole extends Console {
  /** Whether the reader has left so much of what was printed that more had better wait. */
  readonly isBehind: boolean;
  /** Resolves when the reader has taken all that was printed. */
  whenTaken(): Promise<void>;
}

export function createConsole(output: Writable, errors: Writable): PacedConsole {
  return {
    print: (text) => void output.write(`${text}\n`),
    printError: (text) => void errors.write(`${text}\n`),
    get isBehind() {
      return output.writableNeedDrain;
    },
    whenTaken: () =>
      new Promise((resolve) => {
        if (output.writableLength === 0) resolve();
        else output.write('', () => resolve());
      }),
  };
}
