// Who is signed in stays so whatever the clock shows, and no longer than it was to be: browsers, and links of kiosks.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Devices, KioskLinks } from '../../../../lib/connections/rest-api/users/devices.ts';
import type { Directory } from '../../../../lib/connections/rest-api/users/directory.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import '../../../support/own-process.ts';

const day = 86_400_000;
const clock = Date.now;
/** By how much the clock of the machine is wrong. */
let wrongMs = 0;
Date.now = () => clock() + wrongMs;

/** Devices with a directory that has one user. */
async function start(t: ExecutionContext) {
  wrongMs = 0;
  const file = join(await createFolder(t), 'devices.json');
  const directory = {
    account: () => ({ passwordKey: 'a password' }),
    signedInBy: (_: unknown, device: string) => ({ device }),
    endDevice: () => undefined,
  } as unknown as Directory;
  const open = () => new Devices(directory, file, createLogRecorder(), () => {});
  return { file, open };
}

for (const by of [-day, day, 91 * day, 7300 * day]) {
  test.serial(`a clock that is set by ${by / day} days signs nobody out, and ends no link`, async (t) => {
    const { open, file } = await start(t);
    const devices = open();
    const token = devices.admit('ann', 'browser', 'a browser');
    const links = new KioskLinks(10 * day);
    const code = links.add({ user: 'ann', name: 'Reception', dashboard: undefined });
    wrongMs = by;
    t.truthy(devices.find(token));
    t.is(links.list().length, 1);
    wrongMs = 0;
    t.truthy(devices.find(token));
    t.truthy(links.exchange(code));
    await devices.saved();
    wrongMs = by;
    const started = open();
    t.is(started.find(token) !== undefined, by < 30 * day, 'whoever has not come for 30 days has to sign in');
    t.is(started.list().devices.length, 1, 'and is not forgotten');
    await started.saved();
    wrongMs = 0;
    t.truthy(open().find(token), 'as the clock may have been wrong');
    t.regex(await readFile(file, 'utf8'), /"pauses"/);
  });
}

test.serial('a link expires on time, regardless of the clock', async (t) => {
  const links = new KioskLinks(50);
  const code = links.add({ user: 'ann', name: 'Reception', dashboard: undefined });
  wrongMs = -day;
  await eventually(() => links.list().length === 0);
  t.is(links.exchange(code), undefined);
});

test.serial('a browser that was absent for 30 days of a running hub is forgotten', async (t) => {
  const { open, file } = await start(t);
  const devices = open();
  const token = devices.admit('ann', 'browser', 'a browser');
  await devices.saved();
  const kept = JSON.parse(await readFile(file, 'utf8')) as { age: { ran: number; wall: number } };
  kept.age.ran += 31 * day;
  kept.age.wall += 31 * day;
  await writeFile(file, JSON.stringify(kept));
  wrongMs = 31 * day;
  const later = open();
  t.is(later.find(token), undefined);
  t.deepEqual(later.list().devices, []);
});

test.serial('devices that an earlier version saved are accepted', async (t) => {
  const { open, file } = await start(t);
  const device = {
    id: 'a',
    user: 'ann',
    kind: 'browser',
    name: 'b',
    credentials: 'a password',
    since: clock(),
    seen: clock(),
  };
  const devices = open();
  const token = devices.admit('ann', 'browser', 'a browser');
  await devices.saved();
  const kept = JSON.parse(await readFile(file, 'utf8')) as { devices: { digest: string }[] };
  await writeFile(file, JSON.stringify({ devices: [{ ...device, digest: kept.devices[0]!.digest }] }));
  t.truthy(open().find(token));
});
