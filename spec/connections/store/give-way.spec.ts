// Threads of the store leave the core to the hub's own.

import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { AuditWriter } from '../../../lib/connections/store/audit/keep-audit.ts';
import { HistoryWriter } from '../../../lib/connections/store/history/keep-history.ts';
import { giveWay } from '../../../lib/connections/store/thread/give-way.ts';
import { ValuesWriter } from '../../../lib/connections/store/values/keep-values.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import '../../support/own-process.ts';

const onLinux = process.platform === 'linux' ? test.serial : test.serial.skip;
/** SCHED_BATCH of Linux. */
const batch = 3;

/** The policy of each thread of this process, and its priority: 20 is that of all. */
function threads(): { policy: number; priority: number }[] {
  return readdirSync('/proc/self/task').map((thread) => {
    const fields = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return { policy: Number(fields[38]), priority: Number(fields[15]) };
  });
}

onLinux('the threads that write interrupt nobody; that of the history has a lower priority, too', async (t) => {
  const folder = await createFolder(t);
  const [values, audit, history] = [new ValuesWriter(), new AuditWriter(), new HistoryWriter()];
  t.teardown(() => Promise.all([values.end(), audit.end(), history.end()]));
  values.start();
  await audit.open({ folder, maxBytes: 1e7, keepMs: 1e9, isRead: false, isSuspect: false });
  await history.goOn(); // it has not opened a database
  const found = () =>
    threads()
      .filter(({ policy }) => policy === batch)
      .map(({ priority }) => priority)
      .sort();
  await eventually(() => found().join() === '20,20,30', 'three threads with SCHED_BATCH, one of a lower priority');
  t.pass();
});

onLinux('a thread that works for long rests again and again, and works most of the time', (t) => {
  const rests = () =>
    Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(readFileSync('/proc/thread-self/status', 'utf8'))![1]);
  const before = rests();
  const { user, system } = process.threadCpuUsage();
  const startedAt = performance.now();
  while (rests() - before < 100) for (let row = 0; row < 100; row++) giveWay();
  const used = process.threadCpuUsage({ user, system });
  t.log(`${used.user + used.system} us of work, ${Math.round((performance.now() - startedAt) * 1000)} us in all`);
  t.true(used.user + used.system > 100 * 100, 'more than 100 us of work for each rest');
});
