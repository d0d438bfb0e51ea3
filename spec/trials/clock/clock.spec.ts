import { needs } from '../../support/programs.ts';
import { holds } from '../short.ts';

needs('faketime');

holds(
  'a clock that is set under all that waits and is kept erases nothing, and nothing is early, late or lost',
  'clock',
  /^ahead-91d for seconds: 0 mistakes$/m,
);
