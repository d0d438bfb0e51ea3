import { needs } from '../../support/programs.ts';
import { holds } from '../short.ts';

needs('ola', 'namespaces');

holds('DMX with OLA over sACN and Art-Net, killed, stopped and cut off', 'dmx', /network cut and restored: holds$/m);
