// What the contract suite has to know of home-assistant.

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { ContractCase } from '../../support/contract.ts';
import { freePort } from '../../support/system/port.ts';
import { startServer } from './peers.ts';

const url = (port: number) => `http://127.0.0.1:${port}`;
const values = { lamp: 'light.kitchen', level: 'light.kitchen/brightness', bell: 'button.bell' };

export const contractCase: ContractCase = {
  settings: { url: url(9), token: 'a-long-token', values },
  troubles: [
    {
      what: 'nobody listens at its address',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: connect ECONNREFUSED/,
      async cause(t) {
        const port = await freePort();
        return { settings: { url: url(port), token: 'a-long-token', values }, end: () => startServer(t, { port }) };
      },
    },
    {
      what: 'the peer accepts the connection, and answers nothing',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: no answer within 0\.2 s/,
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
          return startServer(t, { port });
        };
        return { settings: { url: url(port), token: 'a-long-token', connectTimeout: 200, values }, end };
      },
    },
  ],
};
