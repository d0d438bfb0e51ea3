// `patchbay password`: prints the hash of a password, for flow files.

import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { makePasswordText } from '../connections/rest-api/users/passwords.ts';
import { HubError } from '../model/error.ts';
import { type Cli, command } from './cli.ts';
import type { Console } from './console.ts';

export function register(cli: Cli): void {
  command(cli, 'password', 'read a password and print its hash for use in flow files').action(() =>
    cli.finish(password(cli.host.stdin, cli.console)),
  );
}

type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/**
 * Reads a password on a single line, and prints its hash. A terminal does not echo the password. Errors: `bad-request` if the password is
 * empty.
 */
export async function password(input: Input, { print, printError }: Console): Promise<number> {
  const isTerminal = input.isTTY === true;
  if (isTerminal) printError('Password (hidden):');
  const line = await readLine(input, isTerminal);
  if (line === '') throw new HubError('bad-request', 'password: expected a line with a password, got none');
  print(await makePasswordText(line));
  return 0;
}

function readLine(input: Input, isTerminal: boolean): Promise<string> {
  const output = new Writable({ write: (_, __, done) => done() });
  const lines = createInterface({ input, output, terminal: isTerminal });
  return new Promise((resolve) => {
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => resolve(''));
  });
}
