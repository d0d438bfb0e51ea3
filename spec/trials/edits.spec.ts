// The short version of the trial of the editing engine.

import { holds } from './short.ts';

holds(
  '1,200 edits of random texts and all flow files change what is meant and nothing else',
  'edits',
  /^1200 edits of random texts and \d\d flow files, nothing was wrong$/m,
);
