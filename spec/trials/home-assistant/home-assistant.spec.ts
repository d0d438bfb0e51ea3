import { holds } from '../short.ts';

holds(
  'a large Home Assistant is followed, dies and comes back complete',
  'home-assistant',
  /^discovery: .*: holds\nchanges: .*: holds\nwrites: .*: holds\ndeath: .*: holds$/m,
);
