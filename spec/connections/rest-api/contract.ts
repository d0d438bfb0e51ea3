// What the contract suite has to know of rest-api.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { ContractCase } from '../../support/contract.ts';

export const contractCase: ContractCase = {
  settings: { port: 17_011, bindIp: '127.0.0.1' },
  troubles: [
    {
      what: 'its port is taken',
      state: 'failed',
      reason: /: connections\.it\.port: /,
      async cause(t) {
        const server = createServer().listen(0, '127.0.0.1');
        t.teardown(() => server.close());
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        return { settings: { port, bindIp: '127.0.0.1' } };
      },
    },
  ],
};
