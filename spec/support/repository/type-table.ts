// The table of connection types in README.md: each type with the first sentence of its own README, in the order of the registry.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connectionTypes } from '../connection-types.ts';
import { readReadme, root } from './readme.ts';

const tablePattern = /(?<=\| connection type \| \|\n\|---\|---\|\n)(?:\|.*\n)+/;

/** The text of README.md with the table as it should be. Errors: there is no such table, or a README without a sentence. */
export function withTypeTable(readme: string): string {
  if (!tablePattern.test(readme)) throw new Error('README.md: expected a table with the heading "connection type"');
  const rows = [...connectionTypes.keys()].map((type) => {
    const path = `lib/connections/${type}/README.md`;
    return `| [\`${type}\`](${path}) | ${firstSentence(path, type)} |\n`;
  });
  return readme.replace(tablePattern, () => rows.join(''));
}

function firstSentence(path: string, type: string): string {
  if (!existsSync(join(root, path))) throw new Error(`${path}: expected a file that describes the type "${type}"`);
  const [heading, paragraph = ''] = readReadme(path).split('\n\n');
  const [sentence] = /^.*?\.(?=\s|$)/.exec(paragraph.replaceAll('\n', ' ')) ?? [];
  if (heading !== `# ${type}` || sentence === undefined)
    throw new Error(`${path}: expected the heading "# ${type}", and below it a sentence that says what it is`);
  return sentence;
}
