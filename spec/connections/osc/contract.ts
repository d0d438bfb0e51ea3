// What the contract suite has to know of osc.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { ContractCase } from '../../support/contract.ts';

const parameters = { fader: { address: '/fader', type: 'F' } };
const settings = { listen: '127.0.0.1:0', parameters };

export const contractCase: ContractCase = {
  settings,
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
        return { settings: { listen: other.address().port, parameters }, end };
      },
    },
    {
      what: 'nobody listens at the TCP port of its peer',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: connect ECONNREFUSED/,
      async cause(t) {
        const server = createServer();
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as { port: number };
        await new Promise((resolve) => server.close(resolve));
        const end = async () => {
          const sockets: Socket[] = [];
          const again = createServer((socket) => sockets.push(socket.on('error', () => {})));
          again.listen(port, '127.0.0.1');
          t.teardown(() => {
            for (const socket of sockets) socket.destroy();
            again.close();
          });
          await once(again, 'listening');
        };
        return { settings: { tcp: `127.0.0.1:${port}`, parameters }, end };
      },
    },
    {
      what: 'its peer has been silent for too long',
      state: 'degraded',
      reason: /^UDP port 0: the device has been silent for (?:0\.\d|1) s$/,
      cause: async () => ({ settings: { listen: 0, idleTimeout: 100, parameters } }),
    },
  ],
};
