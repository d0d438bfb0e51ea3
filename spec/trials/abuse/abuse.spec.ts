import { holds } from '../short.ts';

holds(
  'while a client floods or reads no answer, its neighbours are served, the hub stops, and its log names who it was',
  'abuse',
  /^\| plain-flood \| .* \| client 127\.0\.0\.1 exceeded the limit backlogBytes .* \| holds \|\n\| unread-answers \| .* \| client 127\.0\.0\.1 exceeded the limit \w+ .* \| holds \|$/m,
);
