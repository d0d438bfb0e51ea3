// Runs a program in a process that cannot open anything any more.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const library = new URL('../../../lib/', import.meta.url);

/**
 * Runs a module of the text `program`, in which `imported` is what the file `lib/<path>` exports; resolves with what it prints. By
 * then no file, no pipe and no process can be made. Errors: it ends by a fault.
 */
export async function runWithoutDescriptors(path: string, program: string): Promise<string> {
  const text = `
    import { openSync } from 'node:fs';
    import * as rxjs from 'rxjs';
    const imported = await import('${library}${path}');
    console.log('starts');
    try {
      for (;;) openSync('/dev/null');
    } catch {}
    ${program}`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', text];
  const { stdout } = await promisify(execFile)('/bin/sh', [
    '-c',
    'ulimit -n 100; exec "$@"',
    'sh',
    process.execPath,
    ...args,
  ]);
  return stdout.replace('starts\n', '');
}
