// The abuses as their users run them, short, and on a machine that does other things as well: that the bounds are kept at full
// length on a quiet one is for `npm run trial -- abuse` to show.

import { join } from 'node:path';
import test from 'ava';
import { deadlineMs } from '../support/deadline.ts';
import { start } from '../support/system/process.ts';

const program = join(import.meta.dirname, 'abuse.ts');

test('a short run of abuses: neighbours are served, the hub stops, and its log names who it was', async (t) => {
  const args = ['plain-flood', 'unread-answers', '--seconds', '0.3', '--slack', '40', '--quick'];
  const { status, output, errors } = await start(t, args, { program }).ended(5 * deadlineMs);
  t.is(status, 0, output + errors);
  t.regex(output, /^\| plain-flood \| .* \| client 127\.0\.0\.1 went past the limit backlogBytes .* \| holds \|$/m);
  t.regex(output, /^\| unread-answers \| .* \| client 127\.0\.0\.1 went past the limit \w+ .* \| holds \|$/m);
});
