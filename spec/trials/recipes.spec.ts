import { holds } from './short.ts';

holds(
  'a recipe of the cookbook with a broken rule has a test that fails',
  'recipes',
  /^\d+ recipes, [1-9]\d* broken rules, 0 that no test sees$/m,
);
