// A store on a 4 MiB disk that is full at times: the hub serves throughout, and writes when there is room. If the store itself fills the
// disk, the history stops first, the audit next, and the values continue.

import { once } from 'node:events';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as after } from 'node:timers/promises';
import { type Hub, startHub } from '../../../lib/hub/index.ts';
import type { Origin } from '../../../lib/model/parameter.ts';
import { AskedHub } from '../../support/asked-hub.ts';
import { becomesSo } from '../../support/deadline.ts';
import { silentLog } from '../../support/silent-log.ts';
import { diskBytes, type OnSmallDisk, onSmallDisk } from '../../support/system/small-disk.ts';
import { type KilledHub, startKilledHub } from './killed-hub.ts';

const deadlineMs = 60_000;
const lookEveryMs = 20;
/** What is written is on the disk after this. */
const safeMs = 1000;

/** Returns the mistakes, or why there is no such disk. */
export function fillDisk(): Promise<OnSmallDisk> {
  return onSmallDisk(manyNumbers, fill);
}

async function fill(folder: string, disk: string): Promise<readonly string[]> {
  const filler = join(disk, 'filler');
  const fillUp = () => writeFile(filler, Buffer.alloc(diskBytes)).catch(() => {}); // as far as there is room
  const mistakes: string[] = [];
  let hub: KilledHub | undefined;
  const asked = () => new AskedHub(hub!.port);
  const expect = async (what: string, isAsExpected: () => Promise<boolean>) => {
    if (!(await becomesSo(isAsExpected, { deadlineMs, everyMs: lookEveryMs })))
      mistakes.push(`expected ${what}, the store is ${JSON.stringify(await asked().connection('store'))}`);
  };
  const start = async () => {
    hub = await startKilledHub(folder);
  };
  const end = async () => {
    hub!.process.kill('SIGKILL');
    await once(hub!.process, 'exit');
  };
  const has = (value: string) => async () => (await asked().values('desk')).every((one) => String(one) === value);
  const isSaid = async () => /full|no room|cannot write/.test((await asked().connection('store')).reason);
  const isWell = async () => !/not written|cannot write/.test((await asked().connection('store')).reason);
  try {
    await fillUp();
    await start();
    await expect('a hub on a full disk to say so', isSaid);
    await setAll(hub!, '1');
    await expect('to serve on a full disk', has('1'));
    await rm(filler);
    await expect('to write once there is room', isWell);
    await after(safeMs);
    await end();

    await start();
    await expect('what was written to be there', has('1'));
    await fillUp();
    await setAll(hub!, '2');
    await expect('a disk that has become full to be said', isSaid);
    await setAll(hub!, '3');
    await expect('to serve on', has('3'));
    await rm(filler);
    await expect('to write again', isWell);
    await setAll(hub!, '4');
    await after(safeMs);
    await end();

    await fillUp();
    await start();
    await expect('the newest values after a kill, on a full disk', has('4'));
    await end();
  } finally {
    hub?.process.kill('SIGKILL');
  }
  return mistakes;
}

const count = 100;
const manyNumbers = {
  connections: {
    api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
    store: { type: 'store', folder: 'data' },
    desk: { type: 'dummy', parameters: Array.from({ length: count }, (_, index) => `p${index},I`) },
  },
};

async function setAll({ port }: KilledHub, value: string): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws?filter=none`);
  await once(socket, 'open');
  for (let index = 0; index < count; index++) socket.send(JSON.stringify({ p: `desk/p${index}`, v: value }));
  socket.close();
  await once(socket, 'close');
}

const client: Origin = { kind: 'client', name: 'crowd' };
const texts = 20;
const reasons = { history: 'history: nothing is recorded', audit: 'audit: entries are not written' };

const longTexts = {
  connections: {
    store: { type: 'store', folder: 'data' },
    desk: { type: 'dummy', parameters: ['last,I', ...Array.from({ length: texts }, (_, n) => `t${n},S`)] },
  },
};

/** Returns the mistakes, or why there is no such disk. */
export function crowdDisk(): Promise<OnSmallDisk> {
  return onSmallDisk(longTexts, async (folder, disk) => {
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
