// What the contract suite has to know of modbus.

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { ContractCase } from '../../support/contract.ts';
import { startDevice } from './peers.ts';

const parameters = { level: { holding: 0 }, 'lamp/{n:1..2}': { coil: 0 } };
const place = (port: number) => `127.0.0.1:${port}`;

export const contractCase: ContractCase = {
  settings: { listen: '127.0.0.1:0', parameters },
  claiming: { listen: 1502 },
  troubles: [
    {
      what: 'its port is taken',
      state: 'degraded',
      reason: /^port \d+: listen EADDRINUSE/,
      async cause() {
        const other = createServer().listen(0, '127.0.0.1');
        await once(other, 'listening');
        const end = () => new Promise((resolve) => other.close(resolve));
        return { settings: { listen: (other.address() as { port: number }).port, parameters }, end };
      },
    },
    {
      what: 'nobody listens at the port of its device',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: connect ECONNREFUSED/,
      async cause(t) {
        const server = createServer().listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as { port: number };
        await new Promise((resolve) => server.close(resolve));
        return { settings: { tcp: place(port), parameters }, end: () => startDevice(t, {}, port) };
      },
    },
    {
      what: 'its device accepts the connection, and answers nothing',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: unit 1 does not answer within 0\.1 s/,
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
          return startDevice(t, {}, port);
        };
        return { settings: { tcp: place(port), timeout: 100, parameters }, end };
      },
    },
  ],
};
