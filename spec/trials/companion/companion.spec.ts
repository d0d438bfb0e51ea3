import { holds } from '../short.ts';

holds(
  'driver modules that misbehave disturb nobody, and reach no other host',
  'companion',
  /^crash: .*: holds\nflood: .*: holds\nkill: .*: holds\nnetwork: /m,
);
