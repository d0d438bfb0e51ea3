// What the contract suite has to know of device.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ContractCase } from '../../support/contract.ts';
import { createFolder } from '../../support/folder.ts';

const settings = { tcp: '127.0.0.1:9', protocol: 'rigctld' };

export const contractCase: ContractCase = {
  settings,
  claiming: { tcp: undefined, listen: '127.0.0.1:9000', protocol: 'nmea' },
  troubles: [
    {
      what: 'nobody listens at its port',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: connect ECONNREFUSED 127\.0\.0\.1:\d+$/,
      async cause(t) {
        const server = createServer((socket) => socket.end('$GPHDT,123.456,T*32\r\n').on('error', () => {}));
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as { port: number };
        await new Promise((resolve) => server.close(resolve));
        const end = async () => {
          const again = createServer((socket) => {
            socket.write('$GPHDT,123.456,T*32\r\n');
            socket.on('error', () => {});
            t.teardown(() => socket.destroy());
          });
          again.listen(port, '127.0.0.1');
          t.teardown(() => again.close());
          await once(again, 'listening');
        };
        return { settings: { tcp: `127.0.0.1:${port}`, protocol: 'nmea' }, end };
      },
    },
    {
      what: 'its port to be dialled is taken',
      state: 'degraded',
      reason: /^port \d+: listen EADDRINUSE/,
      async cause(t) {
        const server = createServer();
        server.listen(0, '127.0.0.1');
        t.teardown(() => server.close());
        await once(server, 'listening');
        const { port } = server.address() as { port: number };
        return { settings: { listen: `127.0.0.1:${port}`, protocol: 'nmea' } };
      },
    },
    {
      what: 'the file of certificates is missing',
      state: 'failed',
      reason: /^tls\.caFile: cannot read .*ca\.pem: none$/,
      async cause(t) {
        const caFile = join(await createFolder(t), 'ca.pem');
        return { settings: { tcp: 'localhost:9', protocol: 'rigctld', tls: { caFile } } };
      },
    },
  ],
};
