// The settings of a companion connection, without a module.

import test from 'ava';
import { filledOptions } from '../../../lib/connections/companion/settings.ts';

test('options are filled with a value as it is, also one that stands for a match in replacements', (t) => {
  const options = { whole: '{value}', part: 'say {value}, {value}', list: ['{value}', 1], other: true };
  t.deepEqual(filledOptions(options, 'US$$5 $& $1'), {
    whole: 'US$$5 $& $1',
    part: 'say US$$5 $& $1, US$$5 $& $1',
    list: ['US$$5 $& $1', 1],
    other: true,
  });
  t.deepEqual(filledOptions(options, 3), { whole: 3, part: 'say 3, 3', list: [3, 1], other: true });
});
