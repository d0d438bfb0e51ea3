// What a user is told where there are no flow files yet: commands to copy, first the one that runs the demo.

import { existsSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { platform } from 'node:process';
import { printable } from '../model/printable.ts';

/** The folder that commands read when no path is given. */
export const defaultFolder = 'flows';

const demo = join(import.meta.dirname, '../../flows/demo.json5');

/** How the command line was called: `patchbay`, `npx patchbay-hub` or `node lib/main.ts`, from a folder. */
export function calledAs(program: string, folder: string): string {
  if (basename(program) !== 'patchbay') return `node ${quoted(relative(folder, program))}`;
  return /node_modules[\\/]\.bin[\\/]/.test(program) ? 'npx patchbay-hub' : 'patchbay';
}

/** Says what to do in a folder without flow files; undefined: it has some. */
export function firstSteps(program: string, folder: string): string | undefined {
  if (existsSync(join(folder, defaultFolder))) return undefined;
  const call = calledAs(program, folder);
  return [
    `There is no folder ${defaultFolder} here, and no flow file was named.`,
    `Begin here:     ${call} init`,
    `From a recipe:  ${call} recipes`,
    `The demo:       ${call} run ${quoted(demo)}`,
    `Your own files: ${call} run studio.json5 more-flows/`,
    `All commands:   ${call} --help`,
  ].join('\n');
}

/** A path as a shell takes it for one word, which is no option: it may be copied from a terminal. */
export function quoted(path: string, system = platform): string {
  const word = /^[-+]/.test(path) ? `.${system === 'win32' ? '\\' : '/'}${path}` : path;
  if (system === 'win32') return /^[\w.\\/:@+-]+$/.test(word) ? word : `"${word}"`; // no name has a quote there
  if (/^[\w./:@+-]+$/.test(word)) return word;
  if (printable(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  const escaped = word.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return `$'${printable(escaped)}'`;
}
