// The load of a Virtual Core, in a process of its own.

import { loadCore } from '../../load/flows/core-load.ts';
import { runTask } from '../task.ts';

await runTask(loadCore);
