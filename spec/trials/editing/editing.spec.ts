import { needs } from '../../support/programs.ts';
import { holds } from '../short.ts';

needs('chromium-headless-shell');

holds(
  'a recipe, a rule and a tally are made by mouse and keys alone, as the cookbook has them',
  'editing',
  /^recipes: 1 recipes, .*: holds\n[\s\S]*^rules: [1-9].*: holds\n[\s\S]*^tally: .*: holds$/m,
);
