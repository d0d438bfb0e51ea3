// What the contract suite has to know of nats.

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { ContractCase } from '../../support/contract.ts';

const settings = { domain: 'house', hub: 'west' };

export const contractCase: ContractCase = {
  settings,
  troubles: [
    {
      what: 'no server is there',
      state: 'degraded',
      reason: /^cannot reach nats:\/\/127\.0\.0\.1:\d+: connection refused/,
      async cause() {
        const server = createServer();
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        const { port } = server.address() as AddressInfo;
        await new Promise((resolve) => server.close(resolve));
        return { settings: { ...settings, servers: [`nats://127.0.0.1:${port}`] } };
      },
    },
  ],
};
