// The hint shown in a folder without flow files: commands to copy.

import { existsSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { platform } from 'node:process';
import { printable } from '../model/printable.ts';

/** The folder from which commands read flow files if no path is given. */
export const defaultFolder = 'flows';

const demo = join(import.meta.dirname, '../../flows/demo.json5');

/** Returns the command with which a user runs this program in a folder: `patchbay`, `npx patchbay-hub` or `node lib/main.ts`. */
export function calledAs(program: string, folder: string): string {
  if (basename(program) !== 'patchbay') return `node ${quoted(relative(folder, program))}`;
  return /node_modules[\\/]\.bin[\\/]/.test(program) ? 'npx patchbay-hub' : 'patchbay';
}

/** Returns the hint for a folder without flow files, or undefined if the folder contains flow files. */
export function firstSteps(program: string, folder: string): string | undefined {
  if (existsSync(join(folder, defaultFolder))) return undefined;
  const call = calledAs(program, folder);
  return [
    `No flow files were given, and this folder contains no folder named ${defaultFolder}.`,
    `Start here:     ${call} init`,
    `From a recipe:  ${call} recipes`,
    `The demo:       ${call} run ${quoted(demo)}`,
    `Your own files: ${call} run studio.json5 more-flows/`,
    `All commands:   ${call} --help`,
  ].join('\n');
}

/** Quotes a path so that a shell treats the path as one word and not as an option. */
export function quoted(path: string, system = platform): string {
  const word = /^[-+]/.test(path) ? `.${system === 'win32' ? '\\' : '/'}${path}` : path;
  if (system === 'win32') return /^[\w.\\/:@+-]+$/.test(word) ? word : `"${word}"`; // Windows does not allow quotes in names
  if (/^[\w./:@+-]+$/.test(word)) return word;
  if (printable(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  const escaped = word.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return `$'${printable(escaped)}'`;
}
