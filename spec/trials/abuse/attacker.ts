// A process that attacks a hub in one way until it is killed; it reports when it has started.

import { runTask } from '../../support/system/task.ts';
import { scenarios } from './scenarios.ts';

export interface AbuseTask {
  readonly scenario: string;
  readonly port: number;
}

await runTask(async ({ scenario, port }: AbuseTask) => {
  await scenarios[scenario]!.attack(port);
  return true;
});
