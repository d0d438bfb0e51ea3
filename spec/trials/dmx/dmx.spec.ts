import test from 'ava';
import { needs } from '../../support/programs.ts';
import { mayMakeNamespaces } from '../devices/vanish.ts';
import { holds } from '../short.ts';

needs('ola');

if (mayMakeNamespaces())
  holds('DMX with OLA over sACN and Art-Net, killed, stopped and cut off', 'dmx', /network cut and restored: holds$/m);
else test.skip('only root can make the network that DMX with OLA needs', (t) => t.pass());
