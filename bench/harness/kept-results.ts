// RESULTS.md: a section for each subject, with what it measured, when, at which commit and on what. The bench writes it, up to the notes
// that people add, and marks a section as stale when what it measures has changed since its commit.

import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { thisTree } from '../../spec/support/folder.ts';
import type { Machine } from './machine.ts';
import { describe, formatCases, type SubjectResult } from './report.ts';

const staleMark = '**Stale**: ';

/** Returns the text with the sections of these subjects written anew; one that has none yet comes last. */
export function withSections(
  text: string,
  results: readonly SubjectResult[],
  { commit, ...machine }: Machine,
  date: string,
): string {
  return results.reduce((all, result) => {
    const measured = `Measured on ${date.slice(0, 10)} at \`${commit}\`: ${describe(machine)}.`;
    const written = [`## ${result.name}`, '', measured, '', ...formatCases(result), ''].join('\n');
    const sections = sectionsOf(all);
    const index = sections.findIndex((section) => nameOf(section) === result.name);
    if (index < 0) return `${all.trimEnd()}\n\n${written}`;
    const notes = /\n### [\s\S]*$/.exec(sections[index]!)?.[0] ?? '';
    return sections
      .with(index, `${written}${notes === '' ? '\n' : notes}`)
      .join('')
      .trimEnd()
      .concat('\n');
  }, text);
}

/** Returns the text with a mark on each section whose subject has changed since; `changedSince` says what has. */
export function markStale(text: string, changedSince: (subject: string, commit: string) => readonly string[]): string {
  return sectionsOf(text)
    .map((section) => {
      const [measured, commit] = /^Measured on .* at `([^`]+)`.*$/m.exec(section) ?? [];
      if (measured === undefined) return section;
      const unmarked = section.replace(/\n\n\*\*Stale\*\*: .*$/m, '');
      const changed = changedSince(nameOf(section), commit!);
      if (changed.length === 0) return unmarked;
      return unmarked.replace(measured, () => `${measured}\n\n${staleMark}${changed.join(', ')} changed since.`);
    })
    .join('');
}

/** Which of some folders and files of this source tree differ from those of a commit. */
export function changedPaths(paths: readonly string[], commit: string): string[] {
  try {
    return paths.filter((path) => git('diff', '--name-only', commit, 'HEAD', '--', path) !== '');
  } catch {
    return [`the commit is not known here, and what it measures may have`];
  }
}

function git(...command: string[]): string {
  return execFileSync('git', command, { cwd: thisTree, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** What stands before the first heading of a subject, and each section with its heading. */
function sectionsOf(text: string): string[] {
  return text.split(/^(?=## )/m);
}

function nameOf(section: string): string {
  return /^## (.*)$/m.exec(section)?.[1] ?? '';
}

/** `2026-11-21T10-05-30Z`, for file names. */
export function stampOf(date: string): string {
  return date.replaceAll(':', '-').replace(/\.\d+/, '');
}

/** Writes `<name>.<extension>` for each content; returns their common path without the extension. */
export async function keepResults(
  folder: string,
  name: string,
  contents: Readonly<Record<string, string>>,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  for (const [extension, content] of Object.entries(contents)) await writeFile(`${path}.${extension}`, content);
  return path;
}
