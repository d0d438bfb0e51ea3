// A store on a disk of 4 MiB that is full at times: the hub serves all the while, and writes when there is room.

import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { AskedHub } from '../../../support/asked-hub.ts';
import { becomesSo } from '../../../support/load/deadline.ts';
import { diskBytes, type OnSmallDisk, onSmallDisk } from '../../../support/system/small-disk.ts';
import { type KilledHub, startKilledHub } from '../kills/killed-hub.ts';

const deadlineMs = 60_000;
const lookEveryMs = 50;
/** What is written is on the disk after this. */
const safeMs = 1000;

/** Returns the mistakes, or why there is no such disk. */
export function fillDisk(): Promise<OnSmallDisk> {
  return onSmallDisk(flow, fill);
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
const flow = {
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
