import { holds } from '../short.ts';

holds(
  'while a client floods or reads no answer, its neighbours are served, the hub stops, and its log names who it was',
  'abuse',
  /^(\| [\w-]+ \| .* \| holds \|\n){2}/m,
);
