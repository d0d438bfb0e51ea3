// Connections use up nearly all descriptors of a hub. The hub does not spin, it serves those who are there, also with files, its log names
// who did it, and it recovers.

import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import test from 'ava';
import { descriptorLimit, openDescriptors } from '../../../../lib/net/linux-sockets.ts';
import { eventually } from '../../../support/deadline.ts';
import { openWire, request } from '../../../support/http.ts';
import { api } from '../../../support/hub.ts';
import { openClient } from '../../../support/sockets/socket.ts';
import { startHubProcess } from '../../../support/system/hub-process.ts';
import '../../../support/own-process.ts';

const flow = {
  connections: {
    api: { ...api, documentRoot: '.' },
    desk: { type: 'dummy', parameters: ['i,I'] },
    clock: { type: 'timer', pulses: [{ interval: 100 }] },
    onair: { type: 'xml-file-output', filename: 'onair.xml', template: '<i v="$I"/>' },
  },
  rules: [{ from: 'desk/i', to: 'onair/I' }],
};

test('the system reports the maximum and current number of descriptors', (t) => {
  t.true(descriptorLimit() >= openDescriptors());
});

const onLinux = existsSync('/proc/self/stat') ? test : test.skip;
onLinux('160 connections to a hub that may open 128 files: it rests, serves, says so, and recovers', async (t) => {
  const hub = await startHubProcess(t, flow, { openFiles: 128 });
  const client = await openClient(t, hub.port, '?filter=^desk/');
  const clock = await openClient(t, hub.port, '?filter=^clock/');
  const wire = await openWire(t, hub.port);
  const sockets = await Promise.all(Array.from({ length: 160 }, () => opened(hub.port)));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  await hub.logged(/^client 127\.0\.0\.1 exceeded the limit connections(PerAddress)? /); // whichever is noticed first

  const asked = async (path: string) => {
    wire.send(request(`GET ${path}`));
    return wire.answer();
  };
  client.send({ p: 'desk/i', v: 0 });
  t.is((await client.next()).v, '0');
  await eventually(async () => (await asked('/onair.xml')).status === 200, 'a file that is served');
  for (let count = 1; count <= 20; count++) {
    client.send({ p: 'desk/i', v: count });
    t.is((await client.next()).v, String(count));
    t.is((await asked('/onair.xml')).status, 200);
  }

  const before = busySeconds(hub.pid);
  const start = performance.now();
  await clock.frames.until(() => performance.now() - start > 1000);
  const busy = busySeconds(hub.pid) - before;
  t.true(busy < 0.5, `busy for ${busy} s of one`);

  for (const socket of sockets) socket.destroy();
  for (;;) {
    const socket = await opened(hub.port);
    socket.write(request('GET /parameters/desk/i'));
    const answer = await new Promise((resolve) => socket.once('data', resolve).once('close', () => resolve(undefined)));
    socket.destroy();
    if (answer !== undefined) break;
  }
  t.pass();
});

/** A connection that the system has accepted, whatever the hub does with it. */
function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  return new Promise((resolve) => socket.once('connect', () => resolve(socket)).once('close', () => resolve(socket)));
}

/** How much of a core a process has used, in seconds. */
function busySeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
