import { needs } from '../../support/programs.ts';
import { holds } from '../short.ts';

needs('chromium-headless-shell');

holds('an operator does each task in at most four clicks', 'operator', /^label: .*: holds$/m);
