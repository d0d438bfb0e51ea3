// How commands print: answers go to standard output, complaints to standard error.

import type { Writable } from 'node:stream';

export interface Console {
  print(text: string): void;
  printError(text: string): void;
}

/** A console whose reader may be slow. */
export interface PacedConsole extends Console {
  /** Whether so much that was printed is still unread that more should wait. */
  readonly isBehind: boolean;
  /** Resolves when the reader has taken everything that was printed. */
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
