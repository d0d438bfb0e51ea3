// The look of the console, and where the pictures of it are.

import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './readme.ts';

/** The folder of the pictures, and of the digest of the look that they show. */
export const screenshots = join(root, 'lib/console/screenshots');

/** The digest of all style sheets of the console. */
export function digestOfLook(): string {
  const sheets = globSync('lib/console/**/*.css', { cwd: root }).sort();
  const text = sheets.map((sheet) => readFileSync(join(root, sheet), 'utf8').replaceAll('\r', '')).join('');
  return createHash('sha256').update(text).digest('hex');
}
