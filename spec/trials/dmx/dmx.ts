// npm run trial -- dmx: lighting with a real OLA (Open Lighting Architecture), in a network of two hosts that the trial creates. Requires
// root, Debian's `ola` and util-linux. Exit status 1 if a check fails.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { thisTree } from '../../support/folder.ts';
import { mayMakeNamespaces } from '../devices/vanish.ts';
import { defineTrial, notify } from '../trial.ts';

export const trial = defineTrial({
  about: 'exchanges DMX with OLA over sACN and Art-Net: 16 universes at 44 Hz, with kills, pauses and network failures',
  options: {
    universes: ['the number of universes over sACN in each direction', 16, 2],
    seconds: ['how long the values change, in seconds', 20, 2],
  },
  async run({ universes, seconds }) {
    if (!mayMakeNamespaces()) {
      notify('not run: only root can make the network that the trial needs');
      return false;
    }
    const args = [
      '-n',
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      join(thisTree, 'spec/trials/dmx/hosts.ts'),
    ];
    const child = spawn('unshare', [...args, String(universes), String(seconds)], { stdio: 'inherit' });
    const [status] = (await once(child, 'close')) as [number | null];
    return status === 0;
  },
});
