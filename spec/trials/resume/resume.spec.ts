import { holds } from '../short.ts';

holds(
  'docs/protocol.md: a client is cut at random: every revision that it keeps holds, and each resume brings every value',
  'resume',
  /^seed 5, careful client: 4 resumes, .* writes: no value was missing\nseed 5, naive client: 4 resumes, .* writes: no value was missing$/m,
);
