// `npm test`, `npm run check`: format, lint and types, and then the specs, if nothing is wrong. It installs nothing.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dependent } from './support/system/dependent.ts';

for (const script of ['lint', 'types', 'spec']) {
  const child = spawn(...dependent('npm', ['run', script]), { stdio: 'inherit' });
  const [status] = await once(child, 'close');
  if (status === 0) continue;
  process.exitCode = (status as number | null) ?? 1;
  break;
}
