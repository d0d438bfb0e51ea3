// Files that are none: what people, programs and enemies leave where a file is expected.

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface OddFile {
  readonly kind: string;
  /** What is said of it behind `got `. */
  readonly reported: RegExp;
  make(path: string, t: ExecutionContext): unknown;
}

/** Nothing that is larger is read anywhere. */
const hugeBytes = 400 * 1024 * 1024;

export const oddFiles: readonly OddFile[] = [
  { kind: 'a named pipe', reported: /a named pipe/, make: (path) => execFileSync('mkfifo', [path]) },
  { kind: 'a link to a named pipe', reported: /a named pipe/, make: linkTo((path) => execFileSync('mkfifo', [path])) },
  { kind: 'a socket', reported: /a socket/, make: makeSocket },
  { kind: 'a folder', reported: /a folder/, make: (path) => mkdirSync(path) },
  { kind: 'a device without end', reported: /a device/, make: (path) => symlinkSync('/dev/zero', path) },
  { kind: 'a device that waits', reported: /a device/, make: (path) => symlinkSync('/dev/ptmx', path) },
  {
    kind: 'a link to nowhere',
    reported: /a broken link/,
    make: (path) => symlinkSync(`${path}-gone`, path),
  },
  { kind: 'a link to itself', reported: /a loop of links/, make: (path) => symlinkSync(path, path) },
  { kind: 'a huge file', reported: /one of 419,430,400 bytes or more/, make: makeHuge },
  {
    kind: 'a link to a file of the system without a size',
    reported: /one of [\d,]+ bytes or more|an error: E|may not read/,
    make: makeEndless,
  },
];

function linkTo(make: (path: string) => unknown) {
  return (path: string) => {
    make(`${path}.target`);
    symlinkSync(`${path}.target`, path);
  };
}

function makeSocket(path: string, t: ExecutionContext): Promise<void> {
  const server = createServer().listen(path);
  t.teardown(() => server.close());
  return new Promise((resolve) => server.once('listening', resolve));
}

function makeHuge(path: string): void {
  writeFileSync(path, '');
  truncateSync(path, hugeBytes);
}

/** It says that it is empty, and gives 128 TB. */
function makeEndless(path: string): void {
  symlinkSync('/proc/self/pagemap', path);
}

/** Puts an odd file where a file is. */
export async function replaceBy(odd: OddFile, path: string, t: ExecutionContext): Promise<void> {
  rmSync(path, { recursive: true, force: true });
  await odd.make(path, t);
}
