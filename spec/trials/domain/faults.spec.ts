import { needs } from '../../support/programs.ts';
import { holds } from '../short.ts';

needs('nats');

holds(
  'a hub of a pair takes over, all hubs have the values of the owners, and no two have run the same rules',
  'faults',
  /^2 faults, 0 with a mistake; \d{2,} firings in [3-9] terms, 0 mistakes in these;/m,
);
