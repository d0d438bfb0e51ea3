// What a server of the studio takes until it is of use: from its start to the first answer of a rule, and what it then holds in memory.

import { readFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { Watch } from '../../spec/support/load/watch.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { createStudioDialect, type StudioLoad } from './dialects/studio.ts';
import { openSubscribers } from './sockets/subscribers.ts';

export interface FirstAnswerTask {
  readonly port: number;
  readonly serverPid: number;
  /** When the server was started, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly studio: StudioLoad;
}

/** Seconds, and MB of the server's own part of the memory of the machine (PSS) some seconds later. */
export interface FirstAnswer {
  readonly seconds: number;
  readonly memoryMb: number;
}

const answerDeadlineMs = 5000;
const restMs = 3000;

await runTask(async ({ port, serverPid, startedAt, studio }: FirstAnswerTask): Promise<FirstAnswer> => {
  const watch = new Watch();
  const dialect = createStudioDialect(studio, 1);
  const { promise: answered, resolve } = Promise.withResolvers<number>();
  const { publisher } = await openSubscribers(
    port,
    1,
    dialect,
    watch,
    (_, writes) => writes > 0 && resolve(Date.now()),
  );
  publisher.write(dialect.batch(0));
  const seconds = ((await watch.within(answered, 'the answer of a rule', answerDeadlineMs)) - startedAt) / 1000;
  await after(restMs);
  const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${serverPid}/smaps_rollup`, 'utf8')) ?? [];
  return { seconds, memoryMb: Number(kilobytes) / 1024 };
});
