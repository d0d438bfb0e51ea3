import { needs } from '../../support/programs.ts';
import { holds } from '../short.ts';

needs('nats');

holds(
  'somebody in an open domain disturbs no client of a hub, and the values of honest hubs come back',
  'rogue',
  /^\| \w+ \| .* \| holds \|$/m,
);
