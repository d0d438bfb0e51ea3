import { needs } from '../../support/programs.ts';
import { holds } from '../short.ts';

needs('rigctld', 'ser2net', 'socat');

holds(
  'a radio that is killed and a serial port behind ser2net are read, and come back by themselves',
  'devices',
  /^(?:rigctld|ser2net): all holds\n(?: {2}broken 1 times, .*\n)?(?:rigctld|ser2net): all holds$/m,
);
