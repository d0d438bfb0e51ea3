// The TCP transport by itself: how a link ends.

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { tcpTransport } from '../../lib/device/transport.ts';

async function openLink(t: ExecutionContext) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const opened = Promise.withResolvers<void>();
  const { port } = server.address() as { port: number };
  const link = tcpTransport({ host: '127.0.0.1', port }).open({
    opened: () => opened.resolve(),
    received() {},
    closed: (reason) => opened.reject(new Error(reason)),
  });
  await opened.promise;
  const [peer] = await accepted;
  t.teardown(() => {
    peer.destroy();
    server.close();
  });
  return { link, peer };
}

test('a link that is at rest ends with what it has sent', async (t) => {
  const { link, peer } = await openLink(t);
  link.end();
  peer.resume();
  t.deepEqual(await once(peer, 'close'), [false]);
});

test('a broken link is reset, so that the device never gets what was on its way', async (t) => {
  const { link, peer } = await openLink(t);
  peer.pause();
  const failed = new Promise<NodeJS.ErrnoException>((resolve) => peer.on('error', resolve));
  link.send(Buffer.alloc(1_000_000, 'on\n')); // more than the system takes at once
  link.end(true);
  peer.resume();
  t.is((await failed).code, 'ECONNRESET');
});
