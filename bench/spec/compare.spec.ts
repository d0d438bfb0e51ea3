// `npm run bench:compare` as its users run it, small.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import { deadlineMs } from '../../spec/support/deadline.ts';
import { createFolder } from '../../spec/support/folder.ts';
import { needs } from '../../spec/support/programs.ts';
import { start } from '../../spec/support/system/process.ts';
import { changedPaths } from '../harness/kept-results.ts';

needs('git');

const root = resolve(import.meta.dirname, '../..');
const limitMs = 5 * deadlineMs;

// a source tree that came without its history has nothing to be compared with
const testWithHistory = existsSync(join(root, '.git')) ? test : test.skip;

testWithHistory('this tree against its own commit', async (t) => {
  t.timeout(limitMs);
  const folder = await createFolder(t);
  const args = ['HEAD', 'write-rule', '--quick', '--rounds', '1', '--into', folder];
  const compare = start(t, args, { program: join(root, 'bench/compare.ts') });
  const { status, output, errors } = await compare.ended(limitMs);
  t.is(status, 0, output + errors);
  t.regex(output, /\| write-rule, one rule \| ns per write, median \| [\d,]+ \| [\d,]+ \| .*\| undecided \|/);
});

testWithHistory(
  'what differs from a commit has changed, and of a commit that is not known nothing can be said',
  (t) => {
    t.deepEqual(changedPaths(['lib', 'bench'], 'HEAD'), []);
    t.is(changedPaths(['lib'], 'no-such-commit').length, 1);
  },
);
