import { needs } from '../../support/programs.ts';
import { holds } from '../short.ts';

needs('chromium-headless-shell');

holds(
  'a recipe, a rule or a tally is made by mouse and keys alone, as the cookbook has it',
  'editing',
  /^(?:recipes|rules|tally): .*: holds$/m,
);
