// The ceiling of parameters in memory: a Map with a BehaviorSubject of rxjs per address, and nothing else.

import { BehaviorSubject } from 'rxjs';
import { connectionId, parameterIdOf } from '../../spec/support/load/many-parameters.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { measureDeclaring } from '../load/declaring-costs.ts';

export interface MapTask {
  readonly parameters: number;
}

await runTask(async ({ parameters }: MapTask) => {
  const { made, costs } = await measureDeclaring(() => {
    const subjects = new Map<string, BehaviorSubject<unknown>>();
    for (let index = 0; index < parameters; index++)
      subjects.set(`${connectionId}/${parameterIdOf(index)}`, new BehaviorSubject<unknown>(undefined));
    return subjects;
  });
  if (made.size !== parameters) throw new Error(`expected ${parameters} subjects, got ${made.size}`);
  return costs;
});
