// The first word of a server: heard, refused, or never said. Real sockets; none is left open.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { awaitGreeting } from '../../../../lib/connections/nats/link/nats-link.ts';
import { eventually } from '../../../support/deadline.ts';
import { freePort } from '../../../support/system/port.ts';

async function startServer(t: ExecutionContext, greet: (socket: Socket) => void) {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('close', () => open.delete(socket)).on('error', () => {}));
    socket.resume();
    greet(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`, open };
}

const never = new AbortController().signal;

test('the greeting arrives, and the socket is closed', async (t) => {
  const { url, open } = await startServer(t, (socket) => socket.write('INFO {}\r\n'));
  await awaitGreeting(url, 60_000, never);
  await awaitGreeting(url.replace('nats://', ''), 60_000, never);
  await eventually(() => open.size === 0);
  t.pass();
});

test('the greeting is awaited for a limited time, and not after the end', async (t) => {
  const { url, open } = await startServer(t, () => {});
  await t.throwsAsync(awaitGreeting(url, 50, never), { message: 'timeout' });
  const ending = new AbortController();
  const heard = awaitGreeting(url, 60_000, ending.signal);
  await eventually(() => open.size > 0);
  ending.abort();
  await t.throwsAsync(heard);
  await eventually(() => open.size === 0);
});

test('no greeting arrives if nothing listens, or the listener hangs up', async (t) => {
  const { url } = await startServer(t, (socket) => socket.end());
  await t.throwsAsync(awaitGreeting(url, 60_000, never), { message: 'it closes each connection immediately' });
  const nowhere = `nats://127.0.0.1:${await freePort()}`;
  await t.throwsAsync(awaitGreeting(nowhere, 60_000, never), { message: 'connection refused' });
});
