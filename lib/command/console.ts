// How commands print: results to standard output, errors to standard error. On a terminal, control characters are escaped, as in `ls`.
// Pipes and files receive data unchanged. Lines for people, such as audit entries, are always escaped, because another program may show
// them on a terminal.

import type { Writable } from 'node:stream';
import { printableLines } from '../model/printable.ts';

export interface Console {
  /** Prints text of one or more lines to standard output. */
  print(text: string): void;
  printError(text: string): void;
}

/** A console that reports whether its reader keeps up with the output. */
export interface PacedConsole extends Console {
  /** Whether so much output is still unread that the command should wait. */
  readonly isBehind: boolean;
  /** Resolves as soon as the reader has read all output. */
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
