// What the contract suite has to know of satellite.

import { createServer } from 'node:net';
import type { ContractCase } from '../../support/contract.ts';

const surfaces = { 'deck/{n:1..2}': { device: 'streamdeck:{n}', keys: { 'cam/{c:0..3}': { key: '{c}' } } } };

export const contractCase: ContractCase = {
  settings: { listen: '127.0.0.1:0', surfaces },
  claiming: { listen: 9000 },
  sets: ['deck/1/connected', 'deck/2/connected'],
  troubles: [
    {
      what: 'its port is taken',
      state: 'failed',
      reason: /^listen: port \d+: listen EADDRINUSE/,
      async cause() {
        const other = createServer();
        await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
        const end = () => new Promise<void>((resolve) => other.close(() => resolve()));
        return { settings: { listen: (other.address() as { port: number }).port, surfaces }, end };
      },
    },
    {
      what: 'its WebSocket port is taken',
      state: 'failed',
      reason: /^webSocketListen: port \d+: listen EADDRINUSE/,
      async cause() {
        const other = createServer();
        await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
        const end = () => new Promise<void>((resolve) => other.close(() => resolve()));
        return { settings: { webSocketListen: (other.address() as { port: number }).port, surfaces }, end };
      },
    },
  ],
};
