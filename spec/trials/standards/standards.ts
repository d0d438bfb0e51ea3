// npm run trial -- standards re2 --data <folder>: runs the published tests of a standard, which are not part of this repository. Exit
// status 1, with the failing tests, on a difference that is not intended.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createFilter } from '../../../lib/connections/rest-api/filters/filter.ts';
import { isFound } from '../../../lib/expression/functions/texts.ts';
import { defineTrial, notify } from '../trial.ts';
import { differenceOf, failureOf, readCel } from './cel.ts';
import { type Re2Case, readRe2 } from './re2.ts';

interface Standard {
  readonly about: string;
  /** Resolves with whether nothing differs that is not meant to. */
  run(folder: string): Promise<boolean>;
}

const shown = 20;

const standards: Readonly<Record<string, Standard>> = {
  re2: {
    about: 'regular expressions: re2-search.txt and re2-exhaustive.txt (or .gz) from src/regexp/testdata in golang/go',
    run: runRe2,
  },
  cel: { about: 'expressions: *.textproto from tests/simple/testdata in google/cel-spec', run: runCel },
};

export const trial = defineTrial({
  about: 'runs the published tests of RE2 and CEL',
  options: { data: ['the folder that has them', ''] },
  parts: { all: standards, short: [] },
  run: async ({ data }, { parts }) => {
    if (data === '') throw new Error('--data: expected the folder that has the published tests (--list says which)');
    let holds = parts.length > 0;
    for (const [, standard] of parts) holds = (await standard.run(data)) && holds;
    return holds;
  },
});

async function runRe2(folder: string): Promise<boolean> {
  const names = ['re2-search.txt', 're2-exhaustive.txt', 're2-exhaustive.txt.gz'];
  const paths = names.map((name) => join(folder, name)).filter((path) => existsSync(path));
  let count = 0;
  let meant = 0;
  let others = 0;
  for (const path of paths)
    for await (const one of readRe2(path)) {
      count++;
      const found = searchesOf(one);
      if (found.every((isThere) => isThere === one.isFound)) continue;
      if (isMeantToDiffer(one)) meant++;
      else if (others++ < shown) notify(`${path}: ${JSON.stringify(one)}: ${found.join(', ')}`);
    }
  notify(`re2: ${count} searches, ${meant} differ as they are meant to, ${others} otherwise`);
  return count > 0 && others === 0;
}

let last: { readonly pattern: string; readonly filter: (text: string) => boolean } | undefined;

/** What `matches` and a filter of the REST API find. */
function searchesOf({ pattern, text }: Re2Case): readonly (boolean | string)[] {
  try {
    if (last?.pattern !== pattern) last = { pattern, filter: createFilter([pattern], 1000) };
    return [isFound(text, pattern), last.filter(text)];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Texts have characters and no bytes: there is no `\C`, and `\B` is between two characters. */
function isMeantToDiffer({ pattern, text }: Re2Case): boolean {
  return pattern.includes('\\C') || (pattern.includes('\\B') && /[^\0-\x7f]/.test(text));
}

async function runCel(folder: string): Promise<boolean> {
  const cases = await readCel(folder);
  const counts = new Map<string, number>();
  let others = 0;
  for (const one of cases) {
    const failure = failureOf(one);
    if (failure === undefined) continue;
    const difference = differenceOf(one, failure);
    if (difference !== undefined) counts.set(difference, (counts.get(difference) ?? 0) + 1);
    else if (others++ < shown) notify(`${one.name}: ${one.text}: ${failure}`);
  }
  for (const [difference, count] of counts) notify(`${count}: ${difference}`);
  const meant = [...counts.values()].reduce((sum, count) => sum + count, 0);
  notify(`cel: ${cases.length} tests, ${meant} differ as they are meant to, ${others} otherwise`);
  return cases.length > 0 && others === 0;
}
