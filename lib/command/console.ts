// How commands print: answers go to standard output, complaints to standard error. A terminal gets nothing that it would obey: what others
// have written is shown, as `ls` does. A pipe or a file gets data as it is. What is for people alone, such as a line of the audit, is
// printable wherever it goes, since another program may show it on a terminal.

import type { Writable } from 'node:stream';
import { printableLines } from '../model/printable.ts';

export interface Console {
  /** Prints text of one or more lines. */
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

export function createConsole(output: Writable & { readonly isTTY?: boolean }, errors: Writable): PacedConsole {
  return {
    print: (text) => void output.write(`${output.isTTY ? printableLines(text) : text}\n`),
    printError: (text) => void errors.write(`${printableLines(text)}\n`),
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
