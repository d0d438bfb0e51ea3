// Determines how much of a connection a user's patterns cover.

import { createMatcher } from '../../client/replica/replica-pattern.ts';

export type Extent = 'all' | 'some' | 'none';

/**
 * Returns how much of a connection the patterns cover, as far as this can be determined: `desk/**` covers all parameters of desk,
 * `desk/mic*` covers some, and `rack/**` covers none.
 */
export function coverage(globs: readonly string[], deny: readonly string[], connection: string): Extent {
  const granted = coverOf(globs, connection);
  const denied = coverOf(deny, connection);
  if (granted === 'none' || denied === 'all') return 'none';
  return denied === 'some' ? 'some' : granted;
}

function coverOf(globs: readonly string[], connection: string): Extent {
  let extent: Extent = 'none';
  for (const glob of globs) {
    const at = glob.indexOf('/');
    const [first, rest] = at < 0 ? [glob, ''] : [glob.slice(0, at), glob.slice(at + 1)];
    if (first === '**' && (rest === '' || rest === '**')) return 'all';
    if (first !== '**' && !createMatcher([first], [])(connection)) continue;
    if (first !== '**' && rest === '**') return 'all';
    if (rest !== '') extent = 'some';
  }
  return extent;
}
