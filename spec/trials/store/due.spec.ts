import { holds } from '../short.ts';

holds(
  'a TOF that fell due while the hub was killed ends at its start, a timer that goes on at its time',
  'due',
  /^1 kills, 0 of them with a mistake; 1 TOFs fell due meanwhile;/m,
);
