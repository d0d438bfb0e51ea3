// A device at a serial port, which socat makes, and one that dials in.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { startTestHub, statusOf } from '../../support/hub.ts';
import { needs } from '../../support/programs.ts';
import { dependent } from '../../support/system/dependent.ts';
import { freePort } from '../../support/system/port.ts';

needs('socat');

const type = { type: 'device', protocol: 'nmea' };
const sentence = '$GPHDT,123.456,T*32\r\n';

test('a serial port is read; when it disappears the value stays', async (t) => {
  const folder = await createFolder(t);
  const [far, near] = [join(folder, 'far'), join(folder, 'near')];
  const socat = spawn(...dependent('socat', [`pty,raw,echo=0,link=${far}`, `pty,raw,echo=0,link=${near}`]));
  t.teardown(() => socat.kill('SIGKILL'));
  await eventually(() => existsSync(far) && existsSync(near), 'the ptys of socat');
  const hub = await startTestHub(t, { connections: { it: { ...type, serial: near } } });
  const speak = setInterval(() => void writeFile(far, sentence).catch(() => {}), 20);
  t.teardown(() => clearInterval(speak));
  await eventually(() => hub.find('it/heading')!.value === 123.456, 'the heading');
  socat.kill('SIGKILL');
  await eventually(() => statusOf(hub, 'it').state === 'degraded', 'the port to be gone');
  t.is(hub.find('it/heading')!.value, 123.456);
});

test('a device dials in; when it dials in again its new link counts', async (t) => {
  const port = await freePort();
  const hub = await startTestHub(t, { connections: { it: { ...type, listen: `127.0.0.1:${port}` } } });
  const dial = () => {
    const socket = connect(port, '127.0.0.1', () => socket.write(sentence));
    t.teardown(() => socket.destroy());
    socket.on('error', () => {});
  };
  dial();
  await eventually(() => statusOf(hub, 'it').state === 'running', 'the device to be there');
  dial(); // it was switched off and on: its first link never ends
  await hub.logged(/^connection "it" is degraded: .* the device has dialled in again$/);
  await hub.logged(/^connection "it" is running$/, 2);
  t.is(hub.find('it/heading')!.value, 123.456);
});
