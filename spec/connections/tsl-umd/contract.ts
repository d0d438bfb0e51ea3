// What the contract suite has to know of tsl-umd.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { ContractCase } from '../../support/contract.ts';

const displays = { 'cam/{n:1..2}': { index: '{n}' } };

export const contractCase: ContractCase = {
  settings: { listen: '127.0.0.1:0', displays },
  claiming: { listen: 9000 },
  troubles: [
    {
      what: 'its port is taken',
      state: 'degraded',
      reason: /^UDP port \d+: bind EADDRINUSE/,
      async cause() {
        const other = createSocket('udp4');
        await new Promise<void>((resolve) => other.bind(0, '127.0.0.1', resolve));
        const end = () => new Promise<void>((resolve) => other.close(resolve));
        return { settings: { listen: other.address().port, displays }, end };
      },
    },
    {
      what: 'nobody listens at the TCP port of one of its displays',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: connect ECONNREFUSED/,
      async cause(t) {
        const sockets: Socket[] = [];
        const start = async (port: number) => {
          const server = createServer((socket) => sockets.push(socket.on('error', () => {})));
          server.listen(port, '127.0.0.1');
          await once(server, 'listening');
          return server;
        };
        const [good, bad] = [await start(0), await start(0)];
        const [goodPort, badPort] = [good, bad].map((server) => (server.address() as { port: number }).port);
        await new Promise((resolve) => bad.close(resolve));
        const end = async () => {
          const again = await start(badPort!);
          t.teardown(() => {
            for (const socket of sockets) socket.destroy();
            for (const server of [good, again]) server.close();
          });
        };
        return { settings: { tcp: [`127.0.0.1:${goodPort}`, `127.0.0.1:${badPort}`], displays }, end };
      },
    },
    {
      what: 'the tally controller has been silent for too long',
      state: 'degraded',
      reason: /^UDP port 0: the device has been silent for (?:0\.\d|1) s$/,
      cause: async () => ({ settings: { listen: 0, idleTimeout: 100, displays } }),
    },
  ],
};
