import { holds } from '../short.ts';

holds(
  'a hub starts on values, a history and an audit that are damaged, says what is lost, has no wrong value, and keeps what comes',
  'cuts',
  /^values: \d+ damages, 0 of them with a mistake; [1-9]\d* cost something;.*\nhistory: \d+ damages, 0 of them .*\naudit: \d+ damages, 0 of them /m,
);
