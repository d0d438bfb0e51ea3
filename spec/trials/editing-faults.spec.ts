// The short version of the trial of concurrent edits and killed saves.

import { holds } from './short.ts';

holds(
  'two clients and an editor lose no change of one file, and a killed save is whole or not there',
  'editing-faults',
  /^20 rounds .*no change was lost$[\s\S]*^3 kills .*never a part$/m,
);
