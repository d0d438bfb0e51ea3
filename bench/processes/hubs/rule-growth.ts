// What a rule costs among few and among many, in a process of its own.

import { measureRuleGrowth } from '../../load/flows/rule-growth.ts';
import { runTask } from '../task.ts';

await runTask(measureRuleGrowth);
