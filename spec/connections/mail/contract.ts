// What the contract suite has to know of mail.

import { once } from 'node:events';
import { createServer } from 'node:net';
import type { ContractCase } from '../../support/contract.ts';

const settings = {
  url: 'smtp://127.0.0.1:9',
  starttls: false,
  from: 'studio@example.org',
  messages: { siren: { to: 'night@example.org', subject: 'The siren' } },
};

export const contractCase: ContractCase = {
  settings,
  sets: ['siren/delivered', 'siren/dropped', 'siren/failed', 'siren/pending'],
  troubles: [
    {
      what: 'nobody listens at the port of the server',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: connect ECONNREFUSED/,
      async cause(t) {
        const server = createServer();
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as { port: number };
        await new Promise((resolve) => server.close(resolve));
        const end = async () => {
          const again = createServer((socket) => {
            socket.on('error', () => {}).write('220 spec\r\n');
            socket.on('data', (command) => socket.write(`${/^quit/i.test(`${command}`) ? 221 : 250} spec\r\n`));
          });
          again.listen(port, '127.0.0.1');
          t.teardown(() => again.close());
          await once(again, 'listening');
        };
        return { settings: { ...settings, url: `smtp://127.0.0.1:${port}` }, end };
      },
    },
  ],
};
