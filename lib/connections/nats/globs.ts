// Which addresses a list of globs selects.

import { globToRegExp } from '../../model/glob.ts';

export function selectBy(globs: readonly string[]): (address: string) => boolean {
  const patterns = globs.map(globToRegExp);
  return (address) => patterns.some((pattern) => pattern.test(address));
}
