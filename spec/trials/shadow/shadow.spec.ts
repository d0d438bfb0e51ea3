import { holds } from '../short.ts';

holds(
  'a rule changed in shadow shows exactly the differences that then occur when it is live, also at the page; a replay is the same twice',
  'shadow',
  /^\d{3,} changes in \d+ minutes\n(?:.*\n){2}(?:\| .* \| the same in shadow \|\n){5}(?:\| .* \| as the page has listed \|\n){2}/m,
);
