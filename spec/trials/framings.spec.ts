// The short version of the trial of device framings.

import { holds } from './short.ts';

holds(
  'random streams end no framer, and memory stays as it was',
  'framings',
  /^14 framings, 20000 frames each: holds$/m,
);
