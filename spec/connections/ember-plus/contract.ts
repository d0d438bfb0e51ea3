// What the contract suite has to know of ember-plus.

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { ContractCase } from '../../support/contract.ts';
import { startDevice } from './peers.ts';

const place = (port: number) => `127.0.0.1:${port}`;
const expect = ['device/all/int,I', 'device/go,T'];

export const contractCase: ContractCase = {
  settings: { listen: '127.0.0.1:0', read: ['desk/**'] },
  claiming: { listen: 9000 },
  troubles: [
    {
      what: 'its port is taken',
      state: 'degraded',
      reason: /^port \d+: listen EADDRINUSE/,
      async cause() {
        const other = createServer().listen(0, '127.0.0.1');
        await once(other, 'listening');
        const end = () => new Promise((resolve) => other.close(resolve));
        return { settings: { listen: (other.address() as { port: number }).port, read: ['desk/**'] }, end };
      },
    },
    {
      what: 'nobody listens at the port of its provider',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: connect ECONNREFUSED/,
      async cause(t) {
        const server = createServer().listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as { port: number };
        await new Promise((resolve) => server.close(resolve));
        return { settings: { tcp: place(port), expect }, end: () => startDevice(t, { port }) };
      },
    },
    {
      what: 'its provider accepts the connection, and answers nothing',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: (?:no answer within 0\.1 s|the device has been silent)/,
      async cause(t) {
        const sockets: Socket[] = [];
        const silent = createServer((socket) => sockets.push(socket.on('error', () => {})));
        silent.listen(0, '127.0.0.1');
        await once(silent, 'listening');
        const { port } = silent.address() as { port: number };
        const end = async () => {
          const closed = new Promise((resolve) => silent.close(resolve));
          for (const socket of sockets) socket.destroy();
          await closed;
          return startDevice(t, { port });
        };
        return { settings: { tcp: place(port), timeout: 100, expect }, end };
      },
    },
  ],
};
