// Every way in which a flow in TypeScript is known to misbehave.

import { atImport } from './at-import.ts';
import type { Way } from './way.ts';
import { endless, whileRunning } from './while-running.ts';

export const ways: Readonly<Record<string, Way>> = { ...atImport, ...whileRunning, ...endless };
