// A peer of a plain fan-out: a relay on the package `ws`, which sends every message to all sockets as it came.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { runTask } from '../../spec/support/system/task.ts';

await runTask(async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, path: '/ws' });
  server.on('connection', (socket) => {
    socket.on('error', () => {}); // a load that has gone
    socket.on('message', (message, isBinary) => {
      for (const client of server.clients) client.send(message, { binary: isBinary });
    });
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
});
