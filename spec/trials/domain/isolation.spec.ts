import { needs } from '../../support/programs.ts';
import { holds } from '../short.ts';

needs('nats');

holds(
  'without servers values of other hubs are stale, a hub of its own works, a pair does when it is told to, and all of it heals',
  'isolation',
  /^(?:(?:main|standby|annex): stale after \d+ ms; .*\n){3}kill all servers .*\n\d+ firings in \d+ terms$/m,
);
