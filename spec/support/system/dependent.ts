// Processes that end when the one that has started them does, also when that is killed: benches and specs leave nothing behind.

import { spawnSync } from 'node:child_process';

const setpriv = '/usr/bin/setpriv'; // it becomes the program, under the same id
const options = ['--pdeathsig', 'KILL'];
let canDepend: boolean | undefined;

/** A command, for `spawn`, of a process that is killed when this one ends: on Linux; elsewhere it is the command as it is. */
export function dependent(program: string, args: readonly string[]): [program: string, args: string[]] {
  canDepend ??= spawnSync(setpriv, [...options, setpriv, '--version']).status === 0;
  return canDepend ? [setpriv, [...options, program, ...args]] : [program, [...args]];
}
