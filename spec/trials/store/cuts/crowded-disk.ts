// A small disk that the store itself fills: the history stops first, the audit next, the values go on; all do when there is room again.

import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Hub, startHub } from '../../../../lib/hub.ts';
import type { Origin } from '../../../../lib/model/parameter.ts';
import { becomesSo } from '../../../support/load/deadline.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { diskBytes, type OnSmallDisk, onSmallDisk } from '../../../support/system/small-disk.ts';

const client: Origin = { kind: 'client', name: 'crowd' };
const texts = 20;
const lookEveryMs = 10;
const deadlineMs = 60_000;
const reasons = { history: 'history: nothing is recorded', audit: 'audit: entries are not written' };

const flow = {
  connections: {
    store: { type: 'store', folder: 'data' },
    desk: { type: 'dummy', parameters: ['last,I', ...Array.from({ length: texts }, (_, n) => `t${n},S`)] },
  },
};

/** Returns the mistakes, or why there is no such disk. */
export function crowdDisk(): Promise<OnSmallDisk> {
  return onSmallDisk(flow, async (folder, disk) => {
    const mistakes: string[] = [];
    const room = join(disk, 'room');
    await writeFile(room, Buffer.alloc(diskBytes / 4));
    const start = () => startHub({ paths: [join(folder, 'flow.json5')], log: silentLog });
    let hub = await start();
    let number = 0;
    /** Changes texts, which fill the disk. It goes slowly where parts stop, so that their order is seen on a busy machine. */
    const crowd = async () => {
      const count = (await isRoomy(disk)) ? texts : 1;
      for (let n = 0; n < count; n++) hub.write(`desk/t${n}`, `${number++} ${'x'.repeat(400)}`, client);
    };
    const changeLast = () => hub.write('desk/last', ++number, client);
    const changeUntil = async (what: string, isSo: () => boolean, change: () => unknown = crowd) => {
      const isSoOrChanges = async () => {
        if (isSo()) return true;
        await change();
        return false;
      };
      if (!(await becomesSo(isSoOrChanges, { deadlineMs, everyMs: lookEveryMs })))
        mistakes.push(`expected ${what}, the store is ${JSON.stringify(storeOf(hub))}`);
    };
    const expectKept = async (when: string) => {
      const last = ++number;
      hub.write('desk/last', last, client);
      await changeUntil(`the values to be written ${when}`, () => keptIn(disk) === last);
    };
    try {
      await changeUntil('the history to stop', () => hasStopped(hub, 'history'));
      if (hasStopped(hub, 'audit')) mistakes.push('the audit has stopped before the history');
      await expectKept('while the history is not');
      await changeUntil('the audit to stop', () => hasStopped(hub, 'audit'));
      for (let round = 0; round < 3; round++) await expectKept('while the audit is not');
      if (!hasStopped(hub, 'history')) mistakes.push('the history has gone on before the audit');
      await hub.stop();
      hub = await start();
      if (hub.find('desk/last')!.value !== keptIn(disk)) mistakes.push('what was kept was not restored');
      await expectKept('by a hub that starts on the full disk');
      await rm(room);
      await changeUntil('all to go on', () => !hasStopped(hub, 'history') && !hasStopped(hub, 'audit'), changeLast);
    } finally {
      await hub.stop();
    }
    return mistakes;
  });
}

async function isRoomy(disk: string): Promise<boolean> {
  const { bavail, blocks } = await statfs(disk);
  return bavail / blocks > 0.25;
}

function keptIn(disk: string): unknown {
  const database = new DatabaseSync(join(disk, 'values.db'), { readOnly: true });
  try {
    return database.prepare(`SELECT value FROM parameter WHERE address = 'desk/last'`).get()?.value;
  } finally {
    database.close();
  }
}

function hasStopped(hub: Hub, part: keyof typeof reasons): boolean {
  return storeOf(hub).reason.includes(reasons[part]);
}

function storeOf(hub: Hub) {
  return hub.connections().find(({ id }) => id === 'store')!;
}
