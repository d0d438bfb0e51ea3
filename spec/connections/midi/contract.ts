// What the contract suite has to know of midi.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ContractCase } from '../../support/contract.ts';
import { createFolder } from '../../support/folder.ts';
import { freePort } from '../../support/system/port.ts';

const parameters = {
  'fader/{n:1..8}': { bend: true, direction: 'both' },
  'lamp/{n:1..8}': { note: 0, direction: 'out' },
  play: { note: 94, as: 'trigger' },
} as const;

export const contractCase: ContractCase = {
  settings: { path: '/dev/snd/midiC9D0', parameters },
  troubles: [
    {
      what: 'nobody listens at its address',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: connect ECONNREFUSED/,
      async cause(t) {
        const port = await freePort();
        const end = async () => {
          const server = createServer((socket) => socket.on('error', () => {})).listen(port, '127.0.0.1');
          await once(server, 'listening');
          t.teardown(() => server.close());
        };
        return { settings: { tcp: `127.0.0.1:${port}`, parameters }, end };
      },
    },
    {
      what: 'its device does not exist',
      state: 'degraded',
      reason: /midi: cannot open .*midi: there is no such device$/,
      async cause(t) {
        const path = join(await createFolder(t), 'midi');
        const end = async () => {
          execFileSync('mkfifo', [path]);
        };
        return { settings: { path, parameters }, end };
      },
    },
  ],
};
