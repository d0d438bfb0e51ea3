// How much of a connection the patterns of a user cover.

import test from 'ava';
import { coverage, type Extent } from '../../../lib/console/users/coverage.ts';

const rows: readonly (readonly [globs: string[], deny: string[], expected: Extent])[] = [
  [[], [], 'none'],
  [['**'], [], 'all'],
  [['desk/**'], [], 'all'],
  [['de*/**'], [], 'all'],
  [['*/**'], [], 'all'],
  [['rack/**'], [], 'none'],
  [['desk/mic*'], [], 'some'],
  [['desk/mic*', 'desk/**'], [], 'all'],
  [['**/level'], [], 'some'],
  [['desk'], [], 'none'],
  [['**'], ['desk/**'], 'none'],
  [['**'], ['desk/secret'], 'some'],
  [['**'], ['rack/**'], 'all'],
];

for (const [globs, deny, expected] of rows)
  test(`${globs.join(', ') || 'nothing'} without ${deny.join(', ') || 'exceptions'} covers ${expected} of desk`, (t) => {
    t.is(coverage(globs, deny, 'desk'), expected);
  });
