import { holds } from '../short.ts';

holds(
  'the files of a store that records every change stay within their room, and nothing is left out',
  'recording',
  /^memory .* [1-9]\d* rows are kept, 0 gaps$/m,
);
