// What the contract suite has to know of dmx.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { ContractCase } from '../../support/contract.ts';

const parameters = {
  'par/{n:1..2}/dimmer': { universe: 1, channel: 1, step: 4 },
  'desk/go': { universe: 2, channel: 1, direction: 'in', as: 'switch' },
};

const settings = {
  protocol: 'art-net',
  interface: '127.0.0.1',
  to: ['127.0.0.1:9'],
  port: 0,
  parameters,
};

export const contractCase: ContractCase = {
  settings,
  claiming: { port: 6454 },
  sets: ['par/1/dimmer', 'par/2/dimmer'],
  troubles: [
    {
      what: 'its port is taken by a program that does not share it',
      state: 'degraded',
      reason: /^UDP port \d+: bind EADDRINUSE/,
      async cause() {
        const other = createSocket('udp4').bind(0, '0.0.0.0');
        await once(other, 'listening');
        const end = () => new Promise<void>((resolve) => other.close(resolve));
        return { settings: { ...settings, port: other.address().port }, end };
      },
    },
    {
      what: 'this machine does not have its interface',
      state: 'degraded',
      reason: /^UDP port \d+: .*(EADDRNOTAVAIL|ENODEV|EINVAL)/,
      cause: async () => ({
        settings: { ...settings, protocol: 'sacn', interface: '192.0.2.7', to: [] },
      }),
    },
  ],
};
